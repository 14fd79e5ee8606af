/*
 * The first process of namespaces of their own, in which podman serves docker-compose, and containers and checks run:
 * nothing listens on the machine, no port collides, and all of it is gone once this ends. It runs the command that it
 * is given, and ends with it.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { run, succeeds } from './run.js';

const { PODMAN_SOCKET: socketPath } = process.env;

await isolate();
await separateNetworks();
await blackHole();
await rm(socketPath, { force: true });
const service = spawn('podman', ['system', 'service', '--time=0', `unix://${socketPath}`], { stdio: 'ignore' });
while (!existsSync(socketPath)) await pause(100);
watchHealth();

const [file, ...args] = process.argv.slice(2);
const command = spawn(file, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => command.kill(signal));
const [code] = await once(command, 'exit');
service.kill();
process.exit(code ?? 1);

async function isolate() {
  // crun refuses version 2 of cgroups mounted beside version 1.
  await succeeds('umount', ['/sys/fs/cgroup/unified']);
  // What podman and its network keep of what runs, as after a machine's start.
  for (const folder of ['/run/netns', '/run/containers']) {
    await mkdir(folder, { recursive: true });
    await run('mount', ['-t', 'tmpfs', 'tmpfs', folder]);
  }
  await run('ip', ['link', 'set', 'lo', 'up']);
  await run('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
}

/** Lets no container reach one in another network by its address, as Docker does. */
async function separateNetworks() {
  const rule = (from, to, target) =>
    run('iptables', ['--append', 'FORWARD', '--in-interface', from, '--out-interface', to, '--jump', target]);
  // More than docker-compose.yml has.
  for (let count = 0; count <= 20; count++) await rule(`podman${count}`, `podman${count}`, 'RETURN');
  await rule('podman+', 'podman+', 'DROP');
}

/** A name server that never answers, as on a machine behind a wall that drops what it doesn't know. */
async function blackHole() {
  const [, address] = /^nameserver\s+(\d+\.\S+)/m.exec(await readFile('/etc/resolv.conf', 'utf8')) ?? [];
  if (address === undefined) return;
  if (!address.startsWith('127.')) await run('ip', ['address', 'add', `${address}/32`, 'dev', 'lo']);
  createSocket('udp4').bind(53, address);
}

/** Runs the health checks of containers at their intervals, in systemd's place. */
function watchHealth() {
  const nextAt = new Map();
  const look = async () => {
    for (const { Id: id, Status: status } of await ask('/containers/json')) {
      if ((nextAt.get(id) ?? 0) > Date.now()) continue;
      nextAt.set(id, Number.POSITIVE_INFINITY);
      void check(id, !status.includes('healthy') || status.includes('starting')).then((ms) =>
        nextAt.set(id, Date.now() + ms),
      );
    }
  };
  setInterval(() => void look().catch(() => undefined), 1_000);
}

/** @returns {Promise<number>} how long until its next, in ms */
async function check(id) {
  try {
    const { Config: config } = await ask(`/containers/${id}/json`);
    const { Test: test, Interval: interval = 0 } = config.Healthcheck ?? {};
    if (test === undefined) return Number.POSITIVE_INFINITY;
    const { Status: status } = await ask(`/containers/${id}/healthcheck`);
    // Until it is up, somebody waits for it.
    return status === 'healthy' ? interval / 1_000_000 : 3_000;
  } catch {
    return 3_000;
  }
}

/** What podman answers. */
async function ask(path) {
  const sent = request({ socketPath, path: `/v4.0.0/libpod${path}`, timeout: 30_000 });
  sent.on('timeout', () => sent.destroy());
  sent.end();
  const [response] = await once(sent, 'response');
  const body = await json(response);
  if (response.statusCode >= 400 && body.Status === undefined) throw new Error(body.message);
  return body;
}
