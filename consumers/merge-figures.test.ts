import { expect, test } from 'vitest';
import { mergeFigures } from './merge-figures.ts';

const figure = (name: string, ...lines: string[]) =>
  [`# HELP ${name} What it is`, `# TYPE ${name} counter`, ...lines].join('\n');

test('the lines of a figure stand together below one description, and a part that said nothing is not up', () => {
  const up = '# HELP flipstream_up 1 while this part answers\n# TYPE flipstream_up gauge';
  const text = mergeFigures({
    one: `${figure('a', 'a{part="one"} 1', 'a{part="one",t="x"} 2')}\n\n${up}\nflipstream_up{part="one"} 1\n`,
    two: `${figure('a', 'a{part="two"} 3')}\n\n${figure('b')}\n`,
    three: null,
  });
  expect(text.split('\n')).toEqual([
    ...figure('a', 'a{part="one"} 1', 'a{part="one",t="x"} 2', 'a{part="two"} 3').split('\n'),
    '',
    ...up.split('\n'),
    'flipstream_up{part="one"} 1',
    'flipstream_up{part="three"} 0',
    '',
    ...figure('b').split('\n'),
    '',
  ]);
});
