/** Maps that live in a state as plain JSON. Their names come from outside: one may be `__proto__`. */
export type Keyed<V> = Record<string, V>;

export function get<V>(map: Keyed<V>, key: string): V | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

export function set<V>(map: Keyed<V>, key: string, value: V): void {
  Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
}
