import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writeWhole } from './write-whole.ts';

const test = suite('writing a whole text');

/** Does one of these at each call: takes so many bytes, or refuses. */
function pipeOf(...behaviours: readonly (number | Error)[]) {
  const left = [...behaviours];
  const taken: Buffer[] = [];
  return {
    said: () => Buffer.concat(taken).toString(),
    write: (_: number, bytes: Uint8Array): number => {
      const behaviour = left.shift() ?? bytes.length;
      if (typeof behaviour !== 'number') throw behaviour;
      taken.push(Buffer.from(bytes.subarray(0, behaviour)));
      return behaviour;
    },
  };
}
const refusal = (code: string) => Object.assign(new Error(code), { code });

test('goes on where the pipe took only a part, within a character too', () => {
  const pipe = pipeOf(2, 1);
  writeWhole(1, 'a€b', pipe.write);
  assert.is(pipe.said(), 'a€b');
});

test('waits for a pipe that is full', () => {
  const pipe = pipeOf(1, refusal('EAGAIN'), refusal('EAGAIN'));
  writeWhole(1, 'all', pipe.write);
  assert.is(pipe.said(), 'all');
});

test('throws when nobody reads any more', () => {
  assert.throws(() => writeWhole(1, 'all', pipeOf(refusal('EPIPE')).write), /EPIPE/);
});

test.run();
