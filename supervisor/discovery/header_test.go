package discovery

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestShebang(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		head                     string
		interp, arg, env, causes string
	}{
		{"#!/bin/sh\necho", "/bin/sh", "", "", ""},
		{"#! /bin/sh \t\necho", "/bin/sh", "", "", ""},
		{"#!/bin/sh -e -u \necho", "/bin/sh", "-e -u", "", ""},
		{"#!\t/bin/sh\t-e\n", "/bin/sh", "-e", "", ""},
		{"#!/bin/sh", "/bin/sh", "", "", ""},
		{"#!/bin/sh\x00junk\n", "/bin/sh", "", "", ""},
		{"#!/bin/sh " + long + "\n", "/bin/sh", long[:shebangSize-len("#!/bin/sh ")], "", ""},

		{"#!", "", "", "", "bad shebang: no interpreter after #!"},
		{"#!\n/bin/sh", "", "", "", "bad shebang: no interpreter after #!"},
		{"#! \t \n", "", "", "", "bad shebang: no interpreter after #!"},
		{"#!bin/sh\n", "bin/sh", "", "", "bad shebang: interpreter bin/sh is not an absolute path"},
		{"#!python3\n", "python3", "", "", "bad shebang: interpreter python3 is not an absolute path"},
		{"#!/" + long + "\n", "", "", "", "bad shebang: the first line is longer than 255 bytes"},
		{"#!/bin/sh\r\necho\r\n", "", "", "", "CRLF shebang: the first line ends in a carriage return"},
		{"#!/bin/sh -e\r\necho", "", "", "", "CRLF shebang: the first line ends in a carriage return"},

		{"#!/usr/bin/env python3\n", "/usr/bin/env", "python3", "python3", ""},
		{"#!/usr/bin/env -S python3 -u\n", "/usr/bin/env", "-S python3 -u", "python3", ""},
		{"#!/usr/bin/env -S A=b -i python3\n", "/usr/bin/env", "-S A=b -i python3", "", ""},
		{"#!/usr/bin/env -S A=b python3\n", "/usr/bin/env", "-S A=b python3", "python3", ""},
		{"#!/usr/bin/env --split-string=node -x\n", "/usr/bin/env", "--split-string=node -x", "node", ""},
		{"#!/usr/bin/env bash -x\n", "/usr/bin/env", "bash -x", "", `bad shebang: env gets "bash -x" as one name, env -S would split it`},
		{"#!/usr/bin/env\n", "/usr/bin/env", "", "", ""},
		{"#!/usr/bin/env -S '$X'\n", "/usr/bin/env", "-S '$X'", "", ""},
	} {
		head := []byte(c.head)
		f, cause := parseShebang(head[:min(len(head), headSize)])
		if cause != c.causes || f.interp != c.interp || f.arg != c.arg || f.env != c.env {
			t.Errorf("%.60q:\n got %q %q %q, cause %q\nwant %q %q %q, cause %q", c.head, f.interp, f.arg, f.env, cause, c.interp, c.arg, c.env, c.causes)
		}
	}
}

// elf builds a 64-bit ELF file with one segment that names a loader.
func elf(kind, machine uint16, loader string) []byte {
	out := make([]byte, 64+56)
	copy(out, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(out[16:], kind)
	le.PutUint16(out[18:], machine)
	le.PutUint64(out[32:], 64) // table of segments
	le.PutUint16(out[56:], 1)
	if loader != "" {
		le.PutUint32(out[64:], elfInterp)
		le.PutUint64(out[64+8:], uint64(len(out)))
		le.PutUint64(out[64+32:], uint64(len(loader)+1))
		out = append(append(out, loader...), 0)
	}
	return out
}

func TestELF(t *testing.T) {
	change := func(at int, with ...byte) []byte {
		out := elf(elfExec, 62, "/lib/ld.so")
		copy(out[at:], with)
		return out
	}
	big := elf(0, 0, "")
	big[5] = 2
	binary.BigEndian.PutUint16(big[16:], elfDyn)
	binary.BigEndian.PutUint16(big[18:], 22)
	small := make([]byte, 52+32) // 32 bits, static
	copy(small, "\x7fELF\x01\x01\x01")
	small[16], small[18], small[28], small[44] = elfExec, 3, 52, 1
	for name, c := range map[string]struct {
		data          []byte
		loader, cause string
	}{
		"dynamic":            {elf(elfDyn, 62, "/lib64/ld.so"), "/lib64/ld.so", ""},
		"static":             {elf(elfExec, 62, ""), "", ""},
		"32 bits":            {small, "", ""},
		"foreign":            {elf(elfExec, 183, ""), "", "wrong architecture: built for aarch64, this machine is x86_64"},
		"unknown machine":    {elf(elfExec, 9999, ""), "", "wrong architecture: built for an unknown machine, this machine is x86_64"},
		"big endian":         {big, "", "wrong architecture: built for s390x, this machine is x86_64"},
		"object file":        {elf(1, 62, ""), "", "an ELF file, but not a program"},
		"core file":          {elf(4, 62, ""), "", "an ELF file, but not a program"},
		"cut":                {elf(elfExec, 62, "")[:40], "", "damaged ELF header"},
		"cut after 32 bits":  {elf(elfExec, 62, "")[:60], "", "damaged ELF header"},
		"bad class":          {change(4, 7), "", "damaged ELF header"},
		"bad byte order":     {change(5, 0), "", "damaged ELF header"},
		"no segments":        {change(56, 0, 0), "", "damaged ELF header"},
		"too many segments":  {change(56, 255, 255), "", "damaged ELF header"},
		"table outside":      {change(32, 0, 0, 1), "", "damaged ELF header"},
		"table far outside":  {change(32, 255, 255, 255, 255, 255, 255, 255, 255), "", "damaged ELF header"},
		"loader outside":     {change(64+8, 0, 0, 1), "", "damaged ELF header"},
		"loader too long":    {change(64+32, 0, 0, 1), "", "damaged ELF header"},
		"loader of no bytes": {change(64+32, 0), "", "damaged ELF header"},
	} {
		f, cause := parseELF(c.data, bytes.NewReader(c.data), "amd64")
		if cause != c.cause || f.interp != c.loader {
			t.Errorf("%s: loader %q, cause %q; want %q, %q", name, f.interp, cause, c.loader, c.cause)
		}
	}
	arm := elf(elfExec, 62, "")
	if _, cause := parseELF(arm, bytes.NewReader(arm), "arm64"); cause != "wrong architecture: built for x86_64, this machine is aarch64" {
		t.Errorf("on arm64: %q", cause)
	}
	if _, cause := parseELF(arm, bytes.NewReader(arm), "mips"); cause != "" {
		t.Errorf("an architecture that is not in the table is not checked, and yet: %q", cause)
	}
}

func TestELFOfThisProgram(t *testing.T) {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	head := make([]byte, headSize)
	if _, err := self.ReadAt(head, 0); err != nil {
		t.Fatal(err)
	}
	if _, cause := parseELF(head, self, runtime.GOARCH); cause != "" {
		t.Errorf("this very program: %q", cause)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte("#!/usr/bin/env -S a b\n"))
	f.Add([]byte("#!"))
	f.Add(elf(elfDyn, 62, "/lib/ld.so"))
	f.Add([]byte("\x7fELF\x01\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		head := data[:min(len(data), headSize)]
		if bytes.HasPrefix(head, []byte("#!")) {
			if got, cause := parseShebang(head); cause == "" && !strings.HasPrefix(got.interp, "/") {
				t.Errorf("%q: interpreter %q without a cause", head, got.interp)
			}
		}
		if bytes.HasPrefix(head, []byte("\x7fELF")) {
			_, _ = parseELF(head, bytes.NewReader(data), "amd64")
		}
	})
}
