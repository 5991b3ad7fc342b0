import { type EdgePlace, edgeConfiguration, edgeKeys } from '@counterfoil/engine';
import { secretsFrom } from '@counterfoil/modules';

/**
 * The configuration of a server of the NATS edge, for the installation with this secret key.
 * Throws an Error for operators when the text is no key.
 */
export const edgeConfigurationOf = (secretKey: string, place: EdgePlace): string =>
  edgeConfiguration(edgeKeys(secretsFrom(secretKey).edgeSeed), place);
