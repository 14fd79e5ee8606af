import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/**
 * A TCP port of 127.0.0.1 that nobody listens on, and that the system will not hand to anyone else for about a
 * minute.
 */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const { port } = addressOf(server);

  // Closing a connection from the listening side leaves it in TIME_WAIT; while it lasts, Linux gives this port to
  // nobody who asks for any port, but to whoever asks for this one.
  const accepted = once(server, 'connection');
  const client = connect(port, '127.0.0.1');
  const [socket] = await accepted;
  socket.destroy();
  await once(client.on('error', () => undefined).resume(), 'close');

  await close(server);
  return port;
}

/** Whether somebody could listen on that port of 127.0.0.1 now. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    await close(await listen(port));
    return true;
  } catch {
    return false;
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric address');
  return address;
}
