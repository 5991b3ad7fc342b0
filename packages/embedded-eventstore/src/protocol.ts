/**
 * The message classes that come with the official client. They are CommonJS and register
 * themselves globally, so client and server must share this one copy when they run in one process.
 */
import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipMessages from '@eventstore/db-client/generated/gossip_pb.js';
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featureMessages from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import statusMessages from '@eventstore/db-client/generated/status_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamMessages from '@eventstore/db-client/generated/streams_pb.js';

export {
  featureMessages,
  featureServices,
  gossipMessages,
  gossipServices,
  sharedMessages,
  statusMessages,
  streamMessages,
  streamServices,
};
