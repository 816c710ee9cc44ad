/** Texts of the kinds that conversations are made of, with their length in o200k tokens as that tokenizer counts them. */

export const tokenSamples: Record<string, { text: string; tokens: number }> = {
  'English prose': {
    tokens: 145,
    text: `We moved the weekly meeting to Thursday, because half of the team is travelling on Wednesday and nobody wants to
join from a train. Please bring the numbers of the last quarter, and a short note about what went wrong with the import:
the customer lost two days of orders, noticed it before we did, and was rather polite about it. I would like to answer
them before the weekend with something better than an apology. If the cause was the certificate that expired, say so
plainly; if we still do not know, say that too, and tell them when we will. Afterwards we can talk about the holiday
plan, the new coffee machine and whoever keeps leaving the window of the server room open.`,
  },
  'English, technical': {
    tokens: 149,
    text: `The connection pool is exhausted after roughly forty concurrent requests. Each worker acquires a client, starts a
transaction and then awaits an HTTP call to the billing service (p95: 2.3 s) before it commits, so that the client is
idle most of the time. Move the remote call out of the transaction, set \`statement_timeout\` to 5000 ms, and log the
wait time of \`acquire()\`; an alert at 250 ms would have shown this a week ago. Rolling back release 4.18.2 does not help:
the same code has been there since 4.15.0, only the traffic has grown by 60 % since the campaign started on May 12.`,
  },
  'Chinese chat': {
    tokens: 157,
    text: `早上好！昨天说的那个预算表我改完了，麻烦你帮我再看一遍，主要是第三页的运费那一栏，我总觉得哪里不对。
客户那边催得比较急，周三之前要把最终版发过去，所以今天下班前最好能定下来。另外，下周去上海出差的高铁票我还没有买，
你帮我查一下周一上午有没有九点左右的车，二等座就可以。酒店还是订上次那家，离地铁站近一点，早餐不用含。
对了，妈妈的生日是这个月二十号，提醒我提前两天订蛋糕，要少糖的，她不喜欢太甜。谢谢！`,
  },
  'Chinese, technical': {
    tokens: 149,
    text: `服务启动以后内存一直在上涨，大概六个小时就会触发一次重启。排查下来，问题出在消息队列的消费者没有及时确认：
处理失败的消息会被重新放回队列，同时又在本地缓存里保留了一份引用，垃圾回收没有办法释放。修复的办法是把重试次数写进消息头，
超过三次就转入死信队列，并且在日志里记录原因。数据库方面，建议给订单表加上联合索引，避免全表扫描；
读写分离之后主从延迟平均在两百毫秒以内，对账任务可以放到凌晨执行，不影响白天的业务。`,
  },
  'Chinese and English mixed': {
    tokens: 135,
    text: `帮我把 config.json 里的 agent.model 换成便宜一点的，然后 restart 一下 service，看看 /healthz 返回什么。
这个 PR 先别 merge，CI 里还有两个 test case 是 flaky 的，我怀疑 timeout 设得太短。Sarah 说 Q3 的 roadmap 周五 review，
deadline 是 2026-08-14，onboarding 流程要先给 legal 看。log 在 /var/log/app/error.log，主要是 ECONNRESET，重试三次以后才成功。
你跑一下 npm run bench，把 p95 和 event loop delay 的数字发到群里，@所有人。`,
  },
  TypeScript: {
    tokens: 159,
    text: `export async function readLines(path: string, options: { limit?: number } = {}): Promise<string[]> {
  const { limit = 1000 } = options;
  const lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(path, 'utf8') })) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    lines.push(line);
    if (lines.length >= limit) break;
  }
  return lines;
}

const byName = new Map(users.map((user) => [user.name.toLowerCase(), user] as const));
if (!byName.has(key)) throw new NotFoundError(\`No user "\${key}". Known: \${[...byName.keys()].join(', ')}\`);
`,
  },
  Python: {
    tokens: 163,
    text: `def moving_average(values: list[float], window: int = 7) -> list[float]:
    """Mean of the last \`window\` values; shorter at the start."""
    if window < 1:
        raise ValueError(f"window must be positive, got {window}")
    result = []
    running_total = 0.0
    for index, value in enumerate(values):
        running_total += value
        if index >= window:
            running_total -= values[index - window]
        result.append(running_total / min(index + 1, window))
    return result


if __name__ == "__main__":
    print(moving_average([3.5, 4.0, 8.25, 1.0, 0.5], window=3))
`,
  },
  JSON: {
    tokens: 220,
    text: `{"items":[{"id":10482,"orderNumber":"SO-2026-00917","customer":{"name":"Green Valley Tools","email":"orders@greenvalley.example"},"lines":[{"sku":"HX-200-B","quantity":4,"unitPrice":19.95,"currency":"EUR"},{"sku":"PL-77","quantity":12,"unitPrice":3.2,"currency":"EUR"}],"createdAt":"2026-03-14T09:26:53.589Z","paid":true,"note":null},{"id":10483,"orderNumber":"SO-2026-00918","customer":{"name":"Harbour Books","email":"desk@harbour.example"},"lines":[{"sku":"BK-1","quantity":1,"unitPrice":24.0,"currency":"EUR"}],"createdAt":"2026-03-14T09:31:07.012Z","paid":false,"note":"call before delivery"}],"nextCursor":"eyJpZCI6MTA0ODN9","total":2}`,
  },
  'log lines': {
    tokens: 192,
    text: `2026-03-14T12:00:41.103Z INFO  [worker-3] GET /api/items/4711?page=2 200 38ms ip=10.0.4.17
2026-03-14T12:00:41.377Z WARN  [worker-1] retry 2/5 upstream=billing status=503 wait=800ms
2026-03-14T12:00:42.001Z ERROR [worker-1] Error: connect ECONNREFUSED 10.0.4.9:5432
    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1634:16)
2026-03-14T12:00:42.950Z INFO  [worker-2] POST /api/orders 201 112ms ip=10.0.7.230 bytes=1843
`,
  },
  'a chat full of emoji': {
    tokens: 114,
    text: `好的👍 我明天去🏃‍♂️ 你呢？😂😂😂
see you at 8 🎉🎉 don't forget the cake 🎂❤️
收到🙏 thanks!! 🥰 车票订好了 ✅ 酒店还没有 ❌
👨‍👩‍👧‍👦 all coming 🇨🇳🇩🇪 flight lands 18:40 🛬 太热了🔥🔥🔥 waiting outside 🚗💨
哈哈哈哈😆 no way 🙈 晚安🌙💤`,
  },
  'Markdown table': {
    tokens: 130,
    text: `| city      | population | area km² | mayor since |
|-----------|-----------:|---------:|-------------|
| Lisbon    |    545,796 |   100.05 | 2021        |
| Ljubljana |    284,293 |   163.80 | 2006        |
| 杭州      | 12,520,000 | 16,850.0 | 2022        |

- **Lisbon**: see [the plan](https://example.org/plan?id=42&lang=pt)
- **杭州**: 西湖、龙井、丝绸
`,
  },
};
