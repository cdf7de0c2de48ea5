// The prototype: leaves of at most 8 entries, branches of 16 by the key's hash. Its shape follows from the keys alone.
function keyHash(key) {
  let h = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 0x01000193);
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  return (h ^ (h >>> 12)) >>> 0;
}
export function buildTrie(object) {
  const build = (keys, shift) => {
    if (keys.length <= 8) return { size: keys.length, keys, values: keys.map((key) => object[key]) };
    const parts = Array.from({ length: 16 }, () => []);
    for (const key of keys) parts[(keyHash(key) >>> shift) & 15].push(key);
    return { size: keys.length, children: parts.map((part) => (part.length > 0 ? build(part, shift + 4) : null)) };
  };
  return build(Object.keys(object), 0);
}
export function find(node, key) {
  let h = keyHash(key);
  let n = node;
  while (n?.children) {
    n = n.children[h & 15];
    h >>>= 4;
  }
  if (!n) return undefined;
  const i = n.keys.indexOf(key);
  return i < 0 ? undefined : n.values[i];
}
export function replace(node, key, value, h = keyHash(key)) {
  if (node.children) {
    const children = node.children.slice();
    children[h & 15] = replace(children[h & 15], key, value, h >>> 4);
    return { size: node.size, children };
  }
  const values = node.values.slice();
  values[node.keys.indexOf(key)] = value;
  return { size: node.size, keys: node.keys, values };
}
