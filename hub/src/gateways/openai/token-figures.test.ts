import { expect, test } from 'vitest'
import { TokenFigures } from './token-figures.ts'

test('tokens add up by owner and model, and tasks that were not counted are told apart', () => {
  const figures = new TokenFigures()
  figures.take('a', 'm/p', { prompt: 1, completion: 2 })
  figures.take('a', 'm/p', { prompt: 10, completion: 20 })
  figures.take('a', 'm/p', null)
  figures.take('o"\\\n', 'm/p', null)
  expect(figures.text.split('\n').filter(line => line !== '' && !line.startsWith('#'))).toEqual([
    'stoker_model_tokens_total{owner="a",model="m/p",direction="in"} 11',
    'stoker_model_tokens_total{owner="a",model="m/p",direction="out"} 22',
    'stoker_model_tokens_total{owner="o\\"\\\\\\n",model="m/p",direction="in"} 0',
    'stoker_model_tokens_total{owner="o\\"\\\\\\n",model="m/p",direction="out"} 0',
    'stoker_model_uncounted_tasks_total{owner="a",model="m/p"} 1',
    'stoker_model_uncounted_tasks_total{owner="o\\"\\\\\\n",model="m/p"} 1',
  ])
})
