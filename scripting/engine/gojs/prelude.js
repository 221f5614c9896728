// Faults of goja that can be mended from outside. The value is a function.
(function (expand, shallow) {
  "use strict";
  const define = (on, name, value) =>
    Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false });
  const apply = Reflect.apply, test = RegExp.prototype.test;

  // \p{...} with the u flag never matches, without a word. Literals arrive here
  // too: they were rewritten to constructor calls when the text has \p in it.
  const Native = RegExp, property = /\\[pP]\{/;
  const hasProperty = (text) => apply(test, property, [text]);
  const mended = (pattern, flags) => {
    const text = pattern instanceof Native ? pattern.source : String(pattern);
    const f = flags === undefined ? (pattern instanceof Native ? pattern.flags : "") : String(flags);
    if (!f.includes("u") || !hasProperty(text)) return [pattern, flags];
    const answer = expand(text);
    if (answer.error !== "") throw new SyntaxError(answer.error);
    return [answer.pattern, f];
  };
  const Mended = function RegExp(pattern, flags) {
    const args = pattern === undefined ? [pattern, flags] : mended(pattern, flags);
    if (new.target === undefined) return Native(args[0], args[1]);
    return Reflect.construct(Native, args, new.target === Mended ? Native : new.target);
  };
  define(Mended, "length", 2);
  Mended.prototype = Native.prototype;
  Object.defineProperty(Mended, "prototype", { writable: false, enumerable: false });
  Object.defineProperty(Mended, Symbol.species, { get() { return this; }, configurable: true });
  define(Native.prototype, "constructor", Mended);
  delete Native.prototype.compile;
  define(globalThis, "RegExp", Mended);

  // Code made from strings does not pass the rewriting, so it may have none.
  const refuse = (texts) => {
    for (const text of texts) {
      if (typeof text !== "symbol" && hasProperty(String(text))) {
        throw new SyntaxError("\\p{...} cannot be used in code made from a string; use new RegExp, or engine: quickjs");
      }
    }
  };
  const indirect = globalThis.eval;
  define(globalThis, "eval", function (text) {
    if (typeof text !== "string") return text;
    refuse([text]);
    return indirect(text);
  });
  const makers = [Function, Object.getPrototypeOf(function* () {}).constructor, Object.getPrototypeOf(async function () {}).constructor];
  for (const Maker of makers) {
    const Guarded = function Function(...texts) {
      refuse(texts);
      return Reflect.construct(Maker, texts);
    };
    Guarded.prototype = Maker.prototype;
    Object.defineProperty(Maker.prototype, "constructor", { value: Guarded, configurable: true });
    if (Maker === makers[0]) define(globalThis, "Function", Guarded);
  }

  // Natives that cannot be interrupted.
  const parse = JSON.parse;
  define(JSON, "parse", function (text, reviver) {
    text = String(text);
    const why = shallow(text);
    if (why !== "") throw new RangeError(why);
    return parse(text, reviver);
  });
  const longest = 0x1fffffff;
  const bounded = (on, name, size, error) => {
    const native = on[name];
    define(on, name, { [name](...args) {
      if (size(this, args) > longest) throw new RangeError(error);
      return apply(native, this, args);
    } }[name]);
    define(on[name], "length", native.length);
  };
  const tooLong = "Invalid string length";
  bounded(String.prototype, "repeat", (s, a) => { a[0] = Number(a[0]); return String(s).length * a[0]; }, tooLong);
  bounded(String.prototype, "padStart", (s, a) => (a[0] = Number(a[0])), tooLong);
  bounded(String.prototype, "padEnd", (s, a) => (a[0] = Number(a[0])), tooLong);
  const most = 1 << 26;
  bounded(Array.prototype, "fill", (s) => (s !== null && s !== undefined && s.length > most ? Infinity : 0), "Invalid array length");
})
