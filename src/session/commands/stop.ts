import type { Command } from './command.js';

export const stopCommand: Command = {
  names: ['stop'],
  summary: { en: 'stop the running turn and drop what waits behind it', zh: '停止当前任务并清空队列' },
  isImmediate: true,
  async run({ session, control, language }) {
    const { stopped, cleared } = await control.stop(session.id, 'stop command');
    if (!stopped && cleared === 0) return language === 'zh' ? '没有正在进行的任务。' : 'Nothing is running.';
    if (language === 'zh') return cleared > 0 ? `已停止,并清空了 ${cleared} 条排队消息。` : '已停止。';
    return cleared > 0 ? `Stopped. ${cleared} waiting message${cleared === 1 ? '' : 's'} dropped.` : 'Stopped.';
  },
};
