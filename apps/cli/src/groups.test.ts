import { Command } from 'commander';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addGroups, groups } from './groups.ts';

const test = suite('the groups of commands');

/** The names of the commands of a program that has `up` by itself, when a command line begins with a word. */
async function commandsFor(word: string): Promise<readonly string[]> {
  const program = new Command();
  program.command('up');
  await addGroups(program, () => undefined, word);
  return program.commands.map((command) => command.name());
}

const all = ['up', ...groups.flatMap(({ words }) => words)];

for (const { words } of groups) {
  test(`${words.join(', ')}: each of these words brings these commands and no others`, async () => {
    for (const word of words) assert.equal(await commandsFor(word), ['up', ...words]);
  });
}

test('a command of the program itself brings no group', async () => {
  assert.equal(await commandsFor('up'), ['up']);
});

test('help, and a word that is no command, bring all', async () => {
  for (const word of ['', 'help', '--help', 'tenant']) {
    assert.equal(await commandsFor(word), all);
  }
});

test.run();
