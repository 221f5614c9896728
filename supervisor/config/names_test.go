package config_test

import (
	"testing"

	"snens/supervisor/config"
)

func TestCheckVariable(t *testing.T) {
	for name, ok := range map[string]bool{
		"A": true, "_": true, "a_1": true, "LD_PRELOAD": true,
		"": false, "1A": false, "A-B": false, "A=B": false, "A B": false, "\u00c9": false, "A\x00": false, "BASH_FUNC_x%%": false,
		"SNENS_": false, "SNENS_PRIV": false,
	} {
		if err := config.CheckVariable(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCheckPattern(t *testing.T) {
	for p, ok := range map[string]bool{
		"A": true, "AWS_*": true, "A_B_*": true, "LD_PRELOAD": true,
		"": false, "*": false, "A*": false, "_*": false, "__*": false, "AWS_*X": false, "AWS_**": false, "1_*": false, "SNENS_*": false, "SNENS_A": false, "A B": false,
	} {
		if err := config.CheckPattern(p); (err == nil) != ok {
			t.Errorf("%q: %v", p, err)
		}
	}
}
