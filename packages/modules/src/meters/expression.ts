import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';

/** The kind of a part of an expression: a quantity, or the answer to a question. */
type Kind = 'number' | 'truth';

/** A fault of an expression, in words for its author. Never leaves this file. */
class Fault extends Error {}

/** The functions of the language and how many arguments they take. */
const functions: Readonly<Record<string, { readonly least: number; readonly most: number }>> = {
  max: { least: 2, most: 16 },
  min: { least: 2, most: 16 },
  pow: { least: 2, most: 2 },
  abs: { least: 1, most: 1 },
  ceil: { least: 1, most: 1 },
  floor: { least: 1, most: 1 },
  round: { least: 1, most: 1 },
  sqrt: { least: 1, most: 1 },
  log: { least: 1, most: 1 },
};

const language = new Environment({
  unlistedVariablesAreDyn: true,
  limits: { maxAstNodes: 500, maxDepth: 50, maxCallArguments: 16 },
});

const inWords: Readonly<Record<Kind, string>> = {
  number: 'a number',
  truth: 'a comparison',
};

/** The kind of a part, or a `Fault`. Notes the properties it names. */
function kindOf(node: ASTNode, properties: Set<string>): Kind {
  const must = (part: ASTNode, kind: Kind): void => {
    if (kindOf(part, properties) === kind) return;
    throw new Fault(`${part.input.slice(part.start, part.end)} must be ${inWords[kind]}`);
  };
  const both = ([left, right]: readonly [ASTNode, ASTNode], kind: Kind): void => {
    must(left, kind);
    must(right, kind);
  };
  switch (node.op) {
    case 'id':
      properties.add(node.args);
      return 'number';
    case 'value':
      return literalKind(node.args);
    case '+':
    case '-':
    case '*':
    case '/':
      both(node.args, 'number');
      return 'number';
    case '-_':
      must(node.args, 'number');
      return 'number';
    case '<':
    case '<=':
    case '>':
    case '>=':
    case '==':
    case '!=':
      both(node.args, 'number');
      return 'truth';
    case '&&':
    case '||':
      both(node.args, 'truth');
      return 'truth';
    case '!_':
      must(node.args, 'truth');
      return 'truth';
    case '?:': {
      const [condition, then, otherwise] = node.args;
      must(condition, 'truth');
      const kind = kindOf(then, properties);
      must(otherwise, kind);
      return kind;
    }
    case 'call': {
      const [name, given] = node.args;
      checkCall(name, given.length);
      for (const argument of given) must(argument, 'number');
      return 'number';
    }
    default:
      throw new Fault(
        `${node.input.slice(node.start, node.end)} is not part of the language: it has ` +
          'properties by name, numbers, + - * /, comparisons, && || !, ? : and functions',
      );
  }
}

function literalKind(value: unknown): Kind {
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  if (typeof value === 'boolean') return 'truth';
  throw new Fault('literals other than numbers, true and false are not part of the language');
}

function checkCall(name: string, count: number): void {
  const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (!known) throw new Fault(`${name} is not one of ${Object.keys(functions).join(', ')}`);
  if (count >= known.least && count <= known.most) return;
  const range = known.least === known.most ? known.least : `${known.least} to ${known.most}`;
  throw new Fault(`${name} takes ${range} arguments and not ${count}`);
}

/**
 * Returns what is wrong with an expression over the properties of an event, or null. The language
 * is the part of CEL that gives a number from numbers (specification §11.5): properties of the
 * first level by name, numbers, the four operations, comparisons, conditions and a few functions.
 * It must name a property, because else every event would count the same.
 */
export function expressionFault(text: string): string | null {
  const properties = new Set<string>();
  try {
    const kind = kindOf(language.parse(text).ast, properties);
    if (kind !== 'number') return `must give ${inWords.number} and not ${inWords[kind]}`;
  } catch (fault) {
    if (fault instanceof Fault) return fault.message;
    if (fault instanceof ParseError) return `cannot be read: ${fault.summary}`;
    throw fault;
  }
  return properties.size === 0 ? 'must name a property of the event' : null;
}

/** The parts of an expression that has no fault. */
export const parsedExpression = (text: string): ASTNode => language.parse(text).ast;
