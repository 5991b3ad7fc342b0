import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  AbortMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { checkTargetUrl, guardedLookupOf, type TargetPolicy } from '@counterfoil/webhooks';
import type { S3Credentials } from '../../connections/index.ts';
import type { JobConfig } from '../../scheduled-tasks/index.ts';
import { type Destination, StorageFailed } from './destination.ts';

/** A bucket with everything that it takes to get there. */
export interface S3Place {
  readonly config: JobConfig;
  readonly credentials: S3Credentials;
  readonly policy: TargetPolicy;
}

/** Of an upload in parts: two parts are in memory at once. S3 takes 10,000 of them, which is 160 GB. */
const partBytes = 16 * 1024 * 1024;
const partsAtOnce = 2;
const connectMilliseconds = 10_000;
/** The time until the answer to a part begins to come. */
const answerMilliseconds = 120_000;
/** Tries of one request, of which each waits longer than the one before. */
const tries = 3;
/** Uploads that broke off and that are looked for at once. */
const leftOversMaximum = 100;

/** A bucket of S3, or of a storage that speaks as S3 does. */
export function s3Destination({ config, credentials, policy }: S3Place): Destination {
  assertReachable(config, policy);
  const client = clientOf({ config, credentials, policy });
  const { bucket: Bucket } = config;
  return {
    read: (Key) =>
      answered(async () => {
        try {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
          return (await Body?.transformToString()) ?? '';
        } catch (error) {
          if (error instanceof S3ServiceException && error.name === 'NoSuchKey') return null;
          throw error;
        }
      }),
    write: (Key, Body, ContentType) =>
      answered(async () => {
        const params = { Bucket, Key, Body, ContentType, ...encryptionOf(config) };
        // Where it fails, the parts that are there are taken away.
        await new Upload({
          client,
          params,
          partSize: partBytes,
          queueSize: partsAtOnce,
          leavePartsOnError: false,
        }).done();
      }),
    removeUnfinished: (Prefix, isChosen) =>
      answered(() => removeUploads(client, { Bucket, Prefix }, isChosen)),
    create: (Key, Body) =>
      answered(async () => {
        const params = { Bucket, Key, Body, ContentType: 'application/json', IfNoneMatch: '*' };
        try {
          await client.send(new PutObjectCommand({ ...params, ...encryptionOf(config) }));
          return true;
        } catch (error) {
          if (statusOf(error) === 412) return false;
          throw error;
        }
      }),
    close: () => client.destroy(),
  };
}

/** Throws `StorageFailed` where the address is none to which anything may go (D83). */
export function assertReachable({ endpoint_url }: JobConfig, policy: TargetPolicy): void {
  if (endpoint_url === null) return;
  const checked = checkTargetUrl(endpoint_url, policy);
  if ('refusal' in checked) throw new StorageFailed(`endpoint_url ${checked.refusal}.`, true);
}

/** A client of the storage, whose connections are guarded. To be destroyed. */
export function clientOf({ config, credentials, policy }: S3Place): S3Client {
  const agent = { keepAlive: true, maxSockets: 8, lookup: guardedLookupOf(policy) as never };
  const { endpoint_url: endpoint, region, use_path_style: forcePathStyle } = config;
  return new S3Client({
    region: region ?? 'us-east-1',
    ...(endpoint === null ? {} : { endpoint }),
    forcePathStyle,
    credentials: {
      accessKeyId: credentials.aws_access_key_id,
      secretAccessKey: credentials.aws_secret_access_key,
      ...(credentials.aws_session_token ? { sessionToken: credentials.aws_session_token } : {}),
    },
    maxAttempts: tries,
    // Storages that speak as S3 does know no checksums in trailers.
    requestChecksumCalculation: endpoint === null ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: endpoint === null ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    requestHandler: {
      httpAgent: new HttpAgent(agent),
      httpsAgent: new HttpsAgent(agent),
      connectionTimeout: connectMilliseconds,
      requestTimeout: answerMilliseconds,
      throwOnRequestTimeout: true,
    },
  });
}

/** S3 itself is told; other storages know no keys, unless the task says so in its own words. */
export const encryptionOf = ({ encryption, endpoint_url }: JobConfig) =>
  endpoint_url !== null && encryption === 'AES256' ? {} : { ServerSideEncryption: encryption };

/** Takes away uploads that a process could not take away any more, because it was killed. */
async function removeUploads(
  client: S3Client,
  { Bucket, Prefix }: { readonly Bucket: string; readonly Prefix: string },
  isChosen: (key: string) => boolean,
): Promise<void> {
  const listed = await client.send(
    new ListMultipartUploadsCommand({ Bucket, Prefix, MaxUploads: leftOversMaximum }),
  );
  for (const { Key, UploadId } of listed.Uploads ?? []) {
    if (Key === undefined || UploadId === undefined || !isChosen(Key)) continue;
    try {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    } catch (error) {
      // Whoever it belongs to has just taken it away.
      if (statusOf(error) !== 404) throw error;
    }
  }
}

/** Names of answers after which nobody needs to ask again before something is changed. */
const finalAnswers: readonly string[] = [
  ...['NoSuchBucket', 'AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch'],
  ...[
    'ExpiredToken',
    'InvalidToken',
    'InvalidBucketName',
    'PermanentRedirect',
    'AllAccessDisabled',
  ],
];

/** The outcome of requests, with failures in words that tell no secret. */
async function answered<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    throw failureOf(error);
  }
}

/** A failure of a request as `StorageFailed`, in words that tell no secret; anything else as it is. */
export function failureOf(error: unknown): unknown {
  const status = statusOf(error);
  const { name } = error as Error;
  if (status !== undefined) {
    const isFinal = finalAnswers.includes(name) || status === 401 || status === 403;
    return new StorageFailed(`The storage answered ${name} (${status}).`, isFinal, error);
  }
  const { code } = error as { readonly code?: unknown };
  if (code === 'BLOCKED_ADDRESS') {
    const message = 'The storage has a private, local or reserved address.';
    return new StorageFailed(message, true, error);
  }
  if (typeof code === 'string' || name === 'TimeoutError') {
    const why = typeof code === 'string' ? code : name;
    return new StorageFailed(`The storage cannot be reached: ${why}.`, false, error);
  }
  return error;
}

const statusOf = (error: unknown): number | undefined =>
  (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata
    ?.httpStatusCode;
