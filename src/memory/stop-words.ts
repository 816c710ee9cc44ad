/** Words that say nothing about what a question is about. Left out of queries, never out of the index. */

const english = `a about all also am an and any are as at be been but by can could did do does for from had has have he her
him his how i if in into is it its just let me may might my no not of on or our please s shall she should so some t tell
than that the their them then there these they this to us was we were what when where which who whom whose why will with
would you your`;

const chinese = `的 了 吗 呢 吧 啊 呀 嘛 是 我 你 您 他 她 它 们 我们 你们 他们 在 有 和 与 及 或 就 都 也 还 还是 很 不 没 没有 要 会 能 可以 把 被
给 对 对吧 从 到 为 这 那 这个 那个 这些 那些 哪 哪个 哪些 哪里 哪儿 哪一 哪天 一天 谁 什么 怎么 怎样 怎么样 为什么 如何 多少 几 几个 多久 什么时候 时候 何时 是不是
有没有 能不能 一下 请 请问 帮 帮我 告诉 知道 一个 应该 现在 吗`;

export const stopWords: ReadonlySet<string> = new Set(`${english} ${chinese}`.split(/\s+/));

/** Characters that seldom belong to a word that says something; others of the list do (会议, 要求, 目的 is the price). */
export const particles: ReadonlySet<string> = new Set('的了吗呢吧啊呀嘛我你您他她它们这那是在就都也很');
