/** The longest beginning of a text that has at most `limit` bytes in UTF-8 and ends with a whole character. */
export function cutText(text: string, limit: number): { text: string; cut: boolean } {
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return { text, cut: false };
  const bytes = Buffer.from(text).subarray(0, limit);
  let end = bytes.length;
  // a character's first byte is no 10xxxxxx
  for (let back = 1; back <= 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if (length > back) end = bytes.length - back;
    break;
  }
  return { text: bytes.subarray(0, end).toString('utf8'), cut: true };
}
