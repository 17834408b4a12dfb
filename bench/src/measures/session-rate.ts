import { rateOfJobs } from '../jobs-done.ts'
import { race } from '../rounds.ts'
import { warmSession } from '../servers/warm-session.ts'
import type { Measure } from './ground.ts'

const AT_ONCE = 16
const TASKS = 3000
/** They take turns with a commit for each, so fewer take as long. */
const TASKS_IN_TURN = 500

/** Tasks from the first submit to the last durable end, through a Python program that echoes; the two sessions take turns. */
export const measureSessionRate: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, 8)
  const [wide, narrow] = [await warmSession(hub, AT_ONCE), await warmSession(hub, 1)]
  const rate = (session: string, tasks: number) => rateOfJobs(hub.client, { type: 'task', task: { session } }, tasks)
  const figures = await race(
    [
      { name: 'wide', run: () => rate(wide, TASKS) },
      { name: 'narrow', run: () => rate(narrow, TASKS_IN_TURN) },
    ],
    { rounds: 5, budgetMs: 0 },
  )
  return {
    warmTasks: { ours: figures.get('wide') ?? [], peers: {} },
    warmTasksInTurn: { ours: figures.get('narrow') ?? [], peers: {} },
  }
}
