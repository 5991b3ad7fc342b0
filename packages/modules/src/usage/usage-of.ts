/** The usage of one name: of a customer or several, of an external id that nobody has yet, or of everybody. */
export interface UsageOf {
  readonly eventName: string;
  readonly customer:
    | { readonly kind: 'customer'; readonly id: string }
    | { readonly kind: 'customers'; readonly ids: readonly string[] }
    | { readonly kind: 'external'; readonly id: string }
    | { readonly kind: 'all' };
}
