/** Which calls a model made at once, of a format whose records name no answer: what is called after a result is of the next. */
export interface Answers {
  /** @param own names the call's record @returns the name of the answer that the call is part of */
  called(own: string): string;
  /** A result came. */
  resulted(): void;
}

export function createAnswers(): Answers {
  let answer: string | null = null;
  return {
    called(own) {
      answer ??= own;
      return answer;
    },
    resulted() {
      answer = null;
    },
  };
}
