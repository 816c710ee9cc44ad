import { expect, test } from 'vitest';
import type { ConfigError } from '../../src/config/config-error.js';
import { createSettings } from '../../src/config/settings.js';
import { useTemporaryHome } from './temporary-home.js';

const home = useTemporaryHome();
const open = () => createSettings(home.load(), { env: home.env });

test('what is shown is masked, what is saved is shown at once, the secret stays', async () => {
  home.write({ channels: { telegram: { token: '12345:canary' } } });
  const settings = open();
  expect(JSON.stringify(settings.getConfig())).not.toContain('canary');
  await settings.saveConfig({ ...(settings.getConfig() as object), gateway: { port: 4000 } });
  expect(settings.getConfig()).toMatchObject({
    gateway: { port: 4000 },
    channels: { telegram: { token: '********' } },
  });
  expect(home.read()).toContain('12345:canary');
});

test('the file breaks while the daemon runs: the last good settings are still shown, a save is refused, the bytes stay', async () => {
  home.write({ gateway: { port: 4000 } });
  const settings = open();
  const broken = '{ "gateway": { "port": 4001, } }';
  home.write(broken);
  expect(settings.getConfig()).toMatchObject({ gateway: { port: 4000 } });
  await expect(settings.saveConfig({ gateway: { port: 4002 } })).rejects.toMatchObject({ code: 'config_syntax' });
  expect(home.read()).toBe(broken);
});

test.each([undefined, null, 5, 'x', []])('%j is no configuration', async (data) => {
  home.write({});
  await expect(open().saveConfig(data)).rejects.toMatchObject({ code: 'invalid_config' });
});

test('every problem of a refused save has its path, for the client to show', async () => {
  home.write({});
  const refused = open().saveConfig({ gateway: { port: 'x', prot: 1 } });
  await expect(refused).rejects.toSatisfy(({ details }: ConfigError) =>
    JSON.stringify(details).includes('gateway.prot'),
  );
});
