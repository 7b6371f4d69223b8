/** Lines of a file that streams by, as bytes: of a file of gigabytes only one line is in memory. */

interface Line {
  /** From 1. */
  n: number;
  /** Null: longer than is taken. */
  bytes: Buffer | null;
  /** Whether its end was there: the last line of a file that was cut off has none. */
  ended: boolean;
}

export interface LineSplitter {
  feed(chunk: Buffer): Line[];
  end(): Line[];
}

const END = 0x0a;

/** @param most bytes of one line */
export function createLineSplitter(most: number): LineSplitter {
  let n = 0;
  let pieces: Buffer[] = [];
  let length = 0;

  function keep(part: Buffer): void {
    length += part.length;
    if (length > most) pieces = [];
    else pieces.push(part);
  }

  function take(ended: boolean): Line {
    const bytes = length > most ? null : pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    length = 0;
    return { n: ++n, bytes, ended };
  }

  return {
    feed(chunk) {
      const lines: Line[] = [];
      let from = 0;
      for (let at = chunk.indexOf(END); at !== -1; at = chunk.indexOf(END, from)) {
        keep(chunk.subarray(from, at));
        lines.push(take(true));
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
      return lines;
    },
    end: () => (length > 0 ? [take(false)] : []),
  };
}
