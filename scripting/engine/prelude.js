// What scripts expect and an engine may lack. Each part is added only where it
// is missing, so that the engine's own comes into use when it gets one; number
// formats are ours everywhere, because no engine here knows a locale.
(function () {
  "use strict";
  const define = (on, name, value) =>
    Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false });
  const missing = (on, name, value) => { if (typeof on[name] !== "function") define(on, name, value); };

  missing(Object, "groupBy", function groupBy(items, callback) {
    const groups = Object.create(null);
    let i = 0;
    for (const item of items) {
      let key = callback(item, i++);
      if (typeof key !== "symbol") key = String(key);
      if (groups[key] === undefined) groups[key] = [];
      groups[key].push(item);
    }
    return groups;
  });
  missing(Map, "groupBy", function groupBy(items, callback) {
    const groups = new Map();
    let i = 0;
    for (const item of items) {
      const key = callback(item, i++), list = groups.get(key);
      if (list === undefined) groups.set(key, [item]);
      else list.push(item);
    }
    return groups;
  });
  missing(Promise, "withResolvers", function withResolvers() {
    const out = {};
    out.promise = new this((resolve, reject) => { out.resolve = resolve; out.reject = reject; });
    return out;
  });
  missing(String.prototype, "isWellFormed", function isWellFormed() {
    const text = String(this);
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if ((c & 0xf800) !== 0xd800) continue;
      if (c >= 0xdc00 || (text.charCodeAt(++i) & 0xfc00) !== 0xdc00) return false;
    }
    return true;
  });
  missing(Array, "fromAsync", async function fromAsync(items, map) {
    const out = [];
    const source = await items, next = source[Symbol.asyncIterator];
    const put = async (v) => { v = await v; out.push(map ? await map(v, out.length) : v); };
    if (typeof next !== "function") {
      for (const v of Array.from(source)) await put(v);
      return out;
    }
    const from = next.call(source);
    for (let step = await from.next(); !step.done; step = await from.next()) await put(step.value);
    return out;
  });
  if (typeof Symbol.asyncIterator !== "symbol") {
    Object.defineProperty(Symbol, "asyncIterator", { value: Symbol("Symbol.asyncIterator") });
  }

  missing(globalThis, "structuredClone", function structuredClone(value) {
    const seen = new Map();
    const refuse = (what) => {
      const e = new Error(what + " could not be cloned");
      e.name = "DataCloneError";
      throw e;
    };
    const copy = (v) => {
      if (typeof v === "function" || typeof v === "symbol") refuse(String(v));
      if (v === null || typeof v !== "object") return v;
      if (seen.has(v)) return seen.get(v);
      const keep = (c) => { seen.set(v, c); return c; };
      const kind = Object.prototype.toString.call(v);
      if (v instanceof Date) return keep(new Date(v.getTime()));
      if (v instanceof RegExp) return keep(new RegExp(v.source, v.flags));
      if (v instanceof ArrayBuffer) return keep(v.slice(0));
      if (ArrayBuffer.isView(v)) {
        const b = copy(v.buffer);
        return keep(new v.constructor(b, v.byteOffset, v instanceof DataView ? v.byteLength : v.length));
      }
      if (v instanceof Map) {
        const out = keep(new Map());
        for (const [k, x] of [...v]) out.set(copy(k), copy(x));
        return out;
      }
      if (v instanceof Set) {
        const out = keep(new Set());
        for (const x of [...v]) out.add(copy(x));
        return out;
      }
      if (v instanceof Error) {
        const out = keep(Object.create(Object.getPrototypeOf(v)));
        for (const k of ["name", "message", "stack", "cause"]) if (k in v) define(out, k, copy(v[k]));
        return out;
      }
      if (v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet) refuse(kind);
      const out = keep(Array.isArray(v) ? new Array(v.length) : {});
      for (const k of Object.keys(v)) out[k] = copy(v[k]);
      return out;
    };
    return copy(value);
  });

  const valueOf = Number.prototype.valueOf;
  define(Number.prototype, "toLocaleString", function toLocaleString(locales, options) {
    const n = valueOf.call(this), o = options || {};
    if (Number.isNaN(n)) return "NaN";
    if (!Number.isFinite(n)) return n < 0 ? "-∞" : "∞";
    const least = o.minimumFractionDigits === undefined ? 0 : Number(o.minimumFractionDigits);
    const most = o.maximumFractionDigits === undefined ? Math.max(least, 3) : Number(o.maximumFractionDigits);
    if (!(least >= 0 && least <= 20 && most >= least && most <= 20)) throw new RangeError("fraction digits are out of range");
    if (Math.abs(n) >= 1e21) return BigInt(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
    let [whole, part = ""] = n.toFixed(most).split(".");
    while (part.length > least && part.endsWith("0")) part = part.slice(0, -1);
    if (o.useGrouping !== false) {
      const sign = whole.startsWith("-") ? "-" : "";
      let digits = whole.slice(sign.length), out = "";
      for (; digits.length > 3; digits = digits.slice(0, -3)) out = "," + digits.slice(-3) + out;
      whole = sign + digits + out;
    }
    return part === "" ? whole : whole + "." + part;
  });
})();
