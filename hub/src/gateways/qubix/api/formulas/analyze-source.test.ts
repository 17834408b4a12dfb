import { describe, expect, it } from 'vitest'
import { analyzeSource, formOf } from './analyze-source.ts'
import { notebookCode } from './notebook-code.ts'

describe('a file', () => {
  it.each([
    ['train.py', 'python'],
    ['Demo.IPYNB', 'notebook'],
    ['app/Dockerfile', 'dockerfile'],
    ['Dockerfile.gpu', 'dockerfile'],
    ['web.dockerfile', 'dockerfile'],
    ['model.pt', null],
    ['', null],
  ])('%s is %s', (name, form) => expect(formOf(name)).toBe(form))

  it.each([
    ['from torchvision.datasets import MNIST', 'mnist_training', 'pytorch', 'high'],
    ['# digits of mnist', 'mnist_training', 'none', 'high'],
    ['from diffusers import DiffusionPipeline\nimport torch', 'stable_diffusion', 'pytorch', 'high'],
    ['import tensorflow as tf\nmodel.predict(x)', 'inference', 'tensorflow', 'high'],
    ['from jax import numpy\nmodel.fit(x)\nmodel.predict(x)', 'custom_script', 'jax', 'high'],
    ['model.predict(x)', 'inference', 'none', 'medium'],
    ['for epoch in range(3): loss.backward()', 'custom_script', 'none', 'medium'],
    ['print("hello")', 'custom_script', 'none', 'low'],
    ['print("import torch would be needed")', 'custom_script', 'none', 'low'],
  ])('with %j is %s with %s, %s confidence', (text, jobType, detectedFramework, confidence) => {
    expect(analyzeSource('python', text, text.length)).toMatchObject({ jobType, detectedFramework, confidence })
  })

  it('of Docker needs the memory of its CUDA', () => {
    const file = (from: string) => analyzeSource('dockerfile', `FROM ${from}\nCOPY mnist.py .\n`, 100)
    expect(file('pytorch/pytorch:2.4-cuda12')).toMatchObject({ detectedFramework: 'pytorch', needs: { vramGb: 8 } })
    expect(file('python:3.11')).toMatchObject({ detectedFramework: 'none', needs: { vramGb: 4 } })
    expect(analyzeSource('dockerfile', 'FROM x\nRUN pip install keras', 9).detectedFramework).toBe('tensorflow')
  })

  it('of a notebook needs memory by its size', () => {
    expect(analyzeSource('notebook', 'import torch', 5_000_000).needs.ramGb).toBe(50)
    expect(analyzeSource('notebook', 'import torch', 1000).needs.ramGb).toBe(16)
  })

  it('of a notebook that was cut still tells its imports', () => {
    const cut = '{"cells":[{"cell_type":"code","source":[\n   "import torch\\n",\n   "x = 1'
    expect(analyzeSource('notebook', cut, 1e6).detectedFramework).toBe('pytorch')
  })
})

it('takes only the code of a notebook', () => {
  const cells = [
    { cell_type: 'markdown', source: ['about mnist'] },
    { cell_type: 'code', source: ['import jax\n', 'x = 1'] },
    { source: 'y = 2' },
  ]
  expect(notebookCode(JSON.stringify({ cells }))).toBe('import jax\nx = 1\ny = 2')
  expect([notebookCode('{'), notebookCode('[]'), notebookCode('{"cells":3}')]).toEqual([null, null, null])
})
