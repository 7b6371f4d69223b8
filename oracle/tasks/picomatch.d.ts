/** picomatch brings no types: the one function of it that is used here. */
declare module 'picomatch' {
  interface Options {
    dot?: boolean;
    nocase?: boolean;
    nonegate?: boolean;
  }
  export default function picomatch(globs: string | string[], options?: Options): (path: string) => boolean;
}
