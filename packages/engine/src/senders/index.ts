export { type SentFacts, takeSentFacts } from './take-sent-facts.ts';
