/** The answers to the client's first questions: which methods and nodes there are. */
import { randomUUID } from 'node:crypto';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { featureMessages, gossipMessages, sharedMessages } from './protocol.ts';

/** The version reported to clients; the server speaks the protocol of this line. */
const SERVER_VERSION = '24.10.14';
const TICKS_FROM_YEAR_ONE_TO_1970 = 621_355_968_000_000_000n;
const STATE_LEADER = 8;

const METHODS: readonly (readonly [
  service: string,
  method: string,
  features: readonly string[],
])[] = [
  ['event_store.client.streams.streams', 'read', ['position', 'events']],
  ['event_store.client.streams.streams', 'append', []],
  ['event_store.client.streams.streams', 'batchappend', ['deadline_duration']],
  ['event_store.client.streams.streams', 'delete', []],
  ['event_store.client.streams.streams', 'tombstone', []],
  ['event_store.client.gossip.gossip', 'read', []],
  ['event_store.client.server_features.serverfeatures', 'getsupportedmethods', []],
];

/** The answer of `ServerFeatures/GetSupportedMethods`. */
export function supportedMethods(): SupportedMethods {
  const response = new featureMessages.SupportedMethods();
  response.setEventStoreServerVersion(SERVER_VERSION);
  for (const [service, method, features] of METHODS) {
    const entry = new featureMessages.SupportedMethod();
    entry.setServiceName(service);
    entry.setMethodName(method);
    entry.setFeaturesList([...features]);
    response.addMethods(entry);
  }
  return response;
}

/** The answer of `Gossip/Read`: this node alone, as its leader, at the address to dial. */
export function clusterInfo(instanceId: string, host: string, port: number): ClusterInfo {
  const id = new sharedMessages.UUID();
  id.setString(instanceId);
  const endPoint = new gossipMessages.EndPoint();
  endPoint.setAddress(host);
  endPoint.setPort(port);
  const member = new gossipMessages.MemberInfo();
  member.setInstanceId(id);
  member.setTimeStamp(String(BigInt(Date.now()) * 10_000n + TICKS_FROM_YEAR_ONE_TO_1970));
  member.setState(STATE_LEADER);
  member.setIsAlive(true);
  member.setHttpEndPoint(endPoint);
  const response = new gossipMessages.ClusterInfo();
  response.addMembers(member);
  return response;
}

/** A new identity for one run of a server. */
export function newInstanceId(): string {
  return randomUUID();
}
