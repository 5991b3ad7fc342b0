export { type GatewayPlace, gatewayConfiguration } from './configuration.ts';
export { connectGateway, type Gateway } from './connect-gateway.ts';
export { type GatewayKeys, gatewayKeys } from './keys.ts';
