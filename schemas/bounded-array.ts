import avro from 'avsc';

/** What avsc's array type reads with; its own declarations leave these out. */
interface Tap {
  buf: Buffer;
  pos: number;
  readLong(): number;
  skipLong(): void;
}
interface Items {
  itemsType: { _read(tap: Tap): unknown };
}

/**
 * An array type that does not believe a count larger than the bytes that are left: five bytes of a broken
 * record would otherwise decode to millions of items, or for ever. Every item of ours takes a byte or more.
 */
class BoundedArray extends avro.types.ArrayType {
  /** Also runs as a resolver's `_read`, with the resolver as `this`. */
  _read(this: Items, tap: Tap): unknown[] {
    const items: unknown[] = [];
    for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
      if (count < 0) {
        count = -count;
        tap.skipLong();
      }
      if (count > tap.buf.length - tap.pos) throw new Error('array longer than its bytes');
      for (let n = 0; n < count; n++) items.push(this.itemsType._read(tap));
    }
    return items;
  }
}

/** avsc's `typeHook`: arrays are bounded, every other type is avsc's own. */
export function boundArrays(schema: avro.Schema, options: object): avro.Type | undefined {
  const isArray = typeof schema === 'object' && 'type' in schema && schema.type === 'array';
  return isArray ? new BoundedArray(schema, options) : undefined;
}
