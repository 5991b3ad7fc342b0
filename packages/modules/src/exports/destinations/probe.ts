import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3';
import { StorageFailed } from './destination.ts';
import { assertReachable, clientOf, encryptionOf, failureOf, type S3Place } from './s3-store.ts';

/** The object that is asked for and never made. */
const probeName = '.counterfoil-check';
/** The time for one request to a storage that is tried. */
const answerMilliseconds = 8_000;

/** Answers of storages in words that tell what to change. */
const words: ReadonlyMap<string, string> = new Map(
  Object.entries({
    NoSuchBucket: 'there is no such bucket',
    AccessDenied: 'the access key has no right to it',
    InvalidAccessKeyId: 'the storage does not know the aws_access_key_id',
    SignatureDoesNotMatch: 'the aws_secret_access_key is not that of the aws_access_key_id',
    ExpiredToken: 'the aws_session_token has expired',
    InvalidToken: 'the aws_session_token is none of this storage',
    PermanentRedirect: 'the bucket is in another region',
    AuthorizationHeaderMalformed: 'the bucket is in another region',
  }),
);

/**
 * Tries everything that an export asks of a bucket, and leaves nothing there: reads an object, looks for uploads, begins one and takes
 * it away. Throws `StorageFailed` that says in words which of these is not possible, and why.
 */
export async function probeBucket(place: S3Place): Promise<void> {
  assertReachable(place.config, place.policy);
  const client = clientOf(place);
  const { bucket: Bucket, key_prefix: prefix } = place.config;
  const Key = prefix === '' ? probeName : `${prefix}/${probeName}`;
  const patience = () => ({ abortSignal: AbortSignal.timeout(answerMilliseconds) });
  try {
    await step('An object cannot be read', async () => {
      try {
        await client.send(new GetObjectCommand({ Bucket, Key }), patience());
      } catch (error) {
        if ((error as Error).name !== 'NoSuchKey') throw error;
      }
    });
    const listed = { Bucket, Prefix: Key, MaxUploads: 1 };
    await step('Uploads cannot be listed', () =>
      client.send(new ListMultipartUploadsCommand(listed), patience()),
    );
    const begun = { Bucket, Key, ...encryptionOf(place.config) };
    const { UploadId } = await step('An object cannot be written', () =>
      client.send(new CreateMultipartUploadCommand(begun), patience()),
    );
    const upload = { Bucket, Key, UploadId };
    await step('An upload cannot be taken away', () =>
      client.send(new AbortMultipartUploadCommand(upload), patience()),
    );
  } finally {
    client.destroy();
  }
}

/** Tries to write into a folder, and leaves the folder alone. Throws `StorageFailed`. */
export async function probeFolder(folder: string): Promise<void> {
  const path = join(folder, probeName);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(path, '', { flush: true });
    // Another one who tries it at the same time may have been faster.
    await rm(path, { force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StorageFailed(`The folder cannot be used: ${code}.`, false, error);
  }
}

async function step<Result>(failure: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    const { name } = error as Error;
    const said = words.get(name);
    if (said !== undefined) throw new StorageFailed(`${failure}: ${said} (${name}).`, true, error);
    if (name === 'AbortError' || name === 'TimeoutError') {
      const seconds = answerMilliseconds / 1_000;
      const message = `${failure}: the storage has not answered within ${seconds} seconds.`;
      throw new StorageFailed(message, false, error);
    }
    const known = failureOf(error);
    if (!(known instanceof StorageFailed)) throw error;
    throw new StorageFailed(`${failure}. ${known.message}`, known.isFinal, error);
  }
}
