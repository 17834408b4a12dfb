import { TERMINAL_STATES, type TerminalState, type Webhook, type WebhookDelivery } from '@stoker/protocol'
import { type Command, Option } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { ago } from '../output/job-words.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { type Column, table } from '../output/table.ts'
import { gatherPair } from '../spec/spec-options.ts'

interface AddOptions extends OutputOptions {
  readonly on?: readonly TerminalState[]
  readonly label?: Readonly<Record<string, string>>
}

export function define(command: Command, cli: Cli): void {
  withOutput(command.command('add').description('post to a URL when jobs end; its signing secret is shown this once'))
    .argument('<url>', 'an http or https URL the hub can reach')
    .addOption(new Option('--on <states...>', 'only these ends (default: all)').choices(TERMINAL_STATES))
    .option('-l, --label <key=value>', 'only jobs with this label (repeatable)', gatherPair)
    .action((url: string, options: AddOptions) => add(url, options, cli))
  withOutput(command.command('list').description('list webhooks')).action((options: OutputOptions) =>
    withHub(cli.io, options, async client => {
      printerFor(cli.io, options).show({ webhooks: [...(await client.webhooks())] }, listView)
    }),
  )
  withOutput(command.command('show').description('show a webhook and what was told last'))
    .argument('<webhook>', 'id of the webhook')
    .action((id: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.webhook(id), showView)
      }),
    )
  withOutput(command.command('ping').description('post a test message and say how it went'))
    .argument('<webhook>', 'id of the webhook')
    .action((id: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        const ping = await client.pingWebhook(id)
        printerFor(cli.io, options).show(ping, pingView)
        cli.exitWith(ping.delivered ? 0 : 1)
      }),
    )
  withOutput(command.command('remove').description('remove a webhook; what was not told yet is not told'))
    .argument('<webhook>', 'id of the webhook')
    .action((id: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        await client.removeWebhook(id)
        printerFor(cli.io, options).show({ removed: id }, removedView)
      }),
    )
}

async function add(url: string, { on, label, ...options }: AddOptions, cli: Cli): Promise<void> {
  await withHub(cli.io, options, async client => {
    const created = await client.addWebhook({ url, ...(on && { on: [...on] }), ...(label && { labels: { ...label } }) })
    const out = printerFor(cli.io, options)
    out.note(`webhook ${created.id}; try it with: stoker webhook ping ${created.id}`)
    out.note('its signing secret is not shown again:')
    out.show(created, createdView)
  })
}

const createdView: View<OutputOf<'webhook add'>> = { ids: ({ secret }) => [secret], human: ({ secret }) => secret }

const removedView: View<OutputOf<'webhook remove'>> = {
  ids: ({ removed }) => [removed],
  human: ({ removed }) => `${removed} removed`,
}

const pingView: View<OutputOf<'webhook ping'>> = {
  ids: ({ delivered }) => [String(delivered)],
  human: ({ delivered, status, error }) =>
    delivered
      ? `delivered, the target answered ${status}`
      : `not delivered: ${error ?? `the target answered ${status}`}`,
}

const listView: View<OutputOf<'webhook list'>> = {
  ids: ({ webhooks }) => webhooks.map(({ id }) => id),
  human: ({ webhooks }, paper) => {
    const columns: Column<Webhook>[] = [
      { title: 'ID', cell: ({ id }) => id },
      { title: 'OWNER', cell: ({ owner }) => owner, shrinkTo: 5 },
      {
        title: 'ON',
        cell: ({ on }) => (on.length === TERMINAL_STATES.length ? 'every end' : on.join(', ')),
        shrinkTo: 6,
      },
      {
        title: 'LABELS',
        cell: ({ labels }) =>
          Object.entries(labels)
            .map(pair => pair.join('='))
            .join(' '),
        shrinkTo: 6,
      },
      { title: 'URL', cell: ({ url }) => url, shrinkTo: 12 },
    ]
    return table(columns, webhooks, paper)
  },
}

const showView: View<OutputOf<'webhook show'>> = {
  ids: ({ id }) => [id],
  human: (webhook, paper) => {
    const columns: Column<WebhookDelivery>[] = [
      { title: 'JOB', cell: ({ job }) => job.slice(-12) },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'TRIES', cell: ({ tries }) => String(tries) },
      { title: 'ENDED', cell: ({ createdAt }) => ago(createdAt, paper.now) },
      { title: 'NEXT TRY', cell: ({ nextTryAt }) => nextTryAt ?? '' },
      { title: 'ERROR', cell: ({ error }) => error ?? '', shrinkTo: 12 },
    ]
    const told = webhook.deliveries.length === 0 ? 'nothing was told yet' : table(columns, webhook.deliveries, paper)
    return `${webhook.id}  ${webhook.url}\n${told}`
  },
}
