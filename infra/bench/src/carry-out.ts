/**
 * The other side of `inProcess`: carries out the one order of the parent, answers it and ends. A file of its own, so
 * that what makes the load loads nothing of the service's own code: that would count as time of the load.
 */
export function carryOut<Order, Outcome extends object>(
  work: (order: Order) => Promise<Outcome>,
): void {
  const parent = process.send?.bind(process);
  if (!parent) throw new Error('a load is started by the benchmark');
  process.once('message', (order: Order) => {
    void work(order).then((outcome) => {
      parent(outcome, () => process.disconnect());
    });
  });
  // Without the parent the load has no purpose.
  process.once('disconnect', () => process.exit());
}
