/** From the configuration to the channels of platforms: one source per account, its code loaded only when it is switched on. */
import type { Channel } from '../channels/channel.js';
import type { ChannelParts } from '../channels/channel-parts.js';
import type { AccountConfig, ChannelsConfig } from './config/schema.js';

export interface ChannelSource {
  /** `telegram`, or `telegram.work` for `accounts.work`. */
  id: string;
  /** Who may come in and what applies to single chats; the rest of the account is the adapter's own business. */
  account: AccountConfig;
  create(parts: ChannelParts): Channel;
}

type Platform = keyof ChannelsConfig;
type Account<Name extends Platform> = Omit<ChannelsConfig[Name], 'accounts'>;

/** One line per platform. */
const adapters: { [Name in Platform]?: () => Promise<(account: Account<Name>, parts: ChannelParts) => Channel> } = {};

export async function loadChannelSources(channels: ChannelsConfig): Promise<ChannelSource[]> {
  const platforms = Object.keys(channels) as Platform[];
  return (await Promise.all(platforms.map((platform) => sourcesOf(platform, channels[platform])))).flat();
}

async function sourcesOf<Name extends Platform>(
  platform: Name,
  { accounts, ...first }: ChannelsConfig[Name],
): Promise<ChannelSource[]> {
  const own = [
    [platform, first] as const,
    ...Object.entries(accounts).map(([name, a]) => [`${platform}.${name}`, a] as const),
  ];
  const enabled = own.filter(([, account]) => account.enabled);
  const load = adapters[platform];
  if (enabled.length === 0 || !load) return [];
  const createChannel = await load();
  return enabled.map(([id, account]) => ({
    id,
    account,
    create: (parts) => createChannel(account as Account<Name>, parts),
  }));
}
