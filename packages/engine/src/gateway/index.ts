export { gatewayConfiguration } from './configuration.ts';
export { type GatewayKeys, gatewayKeys } from './keys.ts';
export { connectGateway, type Gateway } from './nats-gateway.ts';
