// The one piece of script that both engines run before the user's: it binds
// helpers, calls functions and settles promises. All that it needs is taken
// before the script can change it. The value of this text is a function.
(function (host, names) {
  "use strict";
  const parse = JSON.parse, stringify = JSON.stringify, apply = Reflect.apply;
  const sourceOf = Function.prototype.toString, resolve = Promise.resolve.bind(Promise);
  const then = Promise.prototype.then, define = Object.defineProperty;
  const String0 = String, Error0 = Error, global = globalThis;
  const slice = Array.prototype.slice, charAt = String.prototype.charAt;
  let outcome = "";

  const set = (name, value) => define(global, name, { value, writable: true, configurable: true, enumerable: false });
  const exported = {};
  set("module", { exports: exported });
  set("exports", exported);
  set("require", function require(name) {
    throw new Error0("cannot import " + stringify(String0(name)) + ": a script is one file");
  });

  for (const name of names) {
    set(name, { [name](...args) {
      const answer = parse(host(name, stringify(args.length > 16 ? apply(slice, args, [0, 16]) : args)));
      if (answer.error !== undefined) throw new Error0(answer.error);
      return answer.value;
    } }[name]);
  }

  function describe(e) {
    try {
      if (e !== null && (typeof e === "object" || typeof e === "function")) {
        const message = e.message, name = e.name, stack = e.stack;
        return stringify({
          name: typeof name === "string" ? name : "",
          message: message === undefined ? String0(e) : String0(message),
          stack: typeof stack === "string" ? stack : "",
        });
      }
      return stringify({ name: "", message: String0(e), stack: "" });
    } catch (_) {
      return '{"name":"","message":"the script threw something that cannot be shown","stack":""}';
    }
  }

  function failed(e) { outcome = '{"error":' + describe(e) + "}"; }

  function settled(value) {
    try {
      const text = stringify(value);
      outcome = '{"value":' + (text === undefined ? "null" : text) + "}";
    } catch (e) {
      outcome = '{"unfit":' + describe(e) + "}";
    }
  }

  // declared counts the parameters, those with defaults too, which length
  // leaves out. It may count too many; that passes an argument nobody reads.
  function declared(fn) {
    const text = apply(sourceOf, fn, []), at = (i) => apply(charAt, text, [i]);
    let i = 0, depth = 0, count = 1;
    while (at(i) !== "(" && i < text.length) {
      if (at(i) === "=" && at(i + 1) === ">") return 1; // x => ...
      i++;
    }
    for (; i < text.length; i++) {
      const c = at(i);
      if (c === "(" || c === "[" || c === "{") depth++;
      else if (c === ")" || c === "]" || c === "}") { if (--depth === 0) return count; }
      else if (c === "," && depth === 1) count++;
      else if (c === "." && depth === 1 && at(i + 1) === "." && at(i + 2) === ".") return 16;
      else if (c === '"' || c === "'" || c === "`") {
        for (i++; i < text.length && at(i) !== c; i++) if (at(i) === "\\") i++;
      }
    }
    return count;
  }

  return {
    find(name, seen) {
      const module = global.module;
      const from = module !== null && typeof module === "object" ? module.exports : undefined;
      if (from !== null && typeof from === "object" && typeof from[name] === "function") return from[name];
      if (name === "run" && typeof from === "function") return from;
      return typeof seen === "function" ? seen : undefined;
    },
    call(fn, text) {
      outcome = '{"pending":true}';
      try {
        let args = parse(text);
        const most = fn.length > 1 ? args.length : declared(fn);
        if (args.length > most) args = apply(slice, args, [0, most]);
        const result = apply(fn, undefined, args);
        if (result !== null && (typeof result === "object" || typeof result === "function") && typeof result.then === "function") {
          apply(then, resolve(result), [settled, failed]);
        } else {
          settled(result);
        }
      } catch (e) {
        failed(e);
      }
    },
    fail: failed,
    take() { return outcome; },
  };
})
