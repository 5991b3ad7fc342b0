/** The load generator as a process of its own: takes one plan from its parent, and answers it. */
import { generate } from './generator.ts';
import type { Plan } from './plan.ts';

const parent = process.send?.bind(process);
if (!parent) throw new Error('the load generator is started by counterfoil bench');

process.once('message', (plan: Plan) => {
  void generate(plan).then((result) => {
    parent(result, () => process.disconnect());
  });
});
// Without the parent the load has no purpose.
process.once('disconnect', () => process.exit());
