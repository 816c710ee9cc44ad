/** What the start tells the person who started it. */
import type { HomePaths } from '../config/home.js';
import type { DaemonStatus } from '../protocol/status.js';

export interface BannerFacts {
  url: string;
  token: string;
  status: DaemonStatus;
  paths: HomePaths;
  notices: readonly string[];
  /** `LC_ALL`, `LC_MESSAGES` or `LANG`. */
  locale: string;
}

export function bannerText({ url, token, status, paths, notices, locale }: BannerFacts): string {
  const link = `${reachable(url)}/?token=${encodeURIComponent(token)}`;
  const isDemo = status.model.startsWith('demo/');
  const channels = status.channels.map(({ id, state }) => (state === 'running' ? id : `${id} (${state})`)).join(', ');
  const lines = [
    `PicoBot ${status.version} is running.`,
    '',
    `  open       ${link}`,
    `  model      ${isDemo ? 'demo: built in, no network, only shows how things work' : status.model}`,
    `  channels   ${channels || 'none'}`,
    `  home       ${paths.home}`,
    `  workspace  ${paths.workspace}`,
    `  log        ${paths.logFile}`,
    '',
    ...(isDemo
      ? [
          `Next: give it a real model. Put a line such as DEEPSEEK_API_KEY=… or OPENAI_API_KEY=… into`,
          `${paths.envFile} and start again.`,
        ]
      : []),
    'Talk to it in the page, or in another terminal: npx picobot chat. Stop it with Ctrl+C.',
    ...(locale.startsWith('zh') ? ['', ...chineseLines(link, isDemo, paths)] : []),
    ...notices.map((notice) => `\nNote: ${notice}`),
  ];
  return `${lines.join('\n')}\n`;
}

function chineseLines(link: string, isDemo: boolean, paths: HomePaths): string[] {
  return [
    `PicoBot 已启动。在浏览器中打开 ${link}，或在另一个终端运行 npx picobot chat。按 Ctrl+C 停止。`,
    ...(isDemo
      ? [`现在回答的是内置演示模型。把 DEEPSEEK_API_KEY=… 写入 ${paths.envFile} 后重新启动，即可使用真正的模型。`]
      : []),
  ];
}

/** "Every address" is no address to click on. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');
}
