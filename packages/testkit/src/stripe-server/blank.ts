import { type Placed, shapeOf } from './declarations.ts';
import type { Shape } from './shapes.ts';

/** The least that a published declaration allows: null where it may be, and else what is empty. */
export function blankOf(placed: Placed): unknown {
  const { shape } = placed;
  switch (shape.kind) {
    case 'text':
      return '';
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'literal':
      return shape.value;
    case 'list':
      return [];
    case 'union':
      return blankOf({ ...placed, shape: simplestOf(shape.of) });
    case 'named':
      return blankOf(shapeOf(shape.name, placed));
    case 'members':
      return Object.fromEntries(
        [...shape.members.named].flatMap(([name, { shape: inner, isOptional }]) =>
          isOptional ? [] : [[name, blankOf({ ...placed, shape: inner })]],
        ),
      );
    case 'null':
    case 'anything':
    case 'never':
      return null;
    default:
      return shape satisfies never;
  }
}

const simplest = ['null', 'text', 'literal'] as const;

const simplestOf = (shapes: readonly Shape[]): Shape =>
  simplest
    .map((kind) => shapes.find((shape) => shape.kind === kind))
    .find((shape) => shape !== undefined) ??
  shapes[0] ?? { kind: 'null' };
