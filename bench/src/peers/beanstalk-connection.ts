import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Reply, ReplyParser } from './beanstalk-replies.ts'

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** One connection; commands may be sent before earlier ones are answered, answers come in order. */
export class BeanstalkConnection {
  readonly #socket: Socket
  readonly #waiting: Waiting[] = []

  private constructor(socket: Socket) {
    this.#socket = socket
    const parser = new ReplyParser()
    socket.setEncoding('latin1')
    socket.on('data', text => {
      for (const reply of parser.push(String(text))) this.#waiting.shift()?.resolve(reply)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('beanstalkd closed the connection'))
    })
  }

  static async open(port: number): Promise<BeanstalkConnection> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    await once(socket, 'connect')
    return new BeanstalkConnection(socket)
  }

  /** The answer, which must begin with the word that means yes. */
  async send(yes: string, command: string, body?: string): Promise<Reply> {
    const reply = await new Promise<Reply>((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#socket.write(body === undefined ? `${command}\r\n` : `${command} ${body.length}\r\n${body}\r\n`)
    })
    if (reply.words[0] !== yes) throw new Error(`${command} should be ${yes}, beanstalkd said ${reply.words.join(' ')}`)
    return reply
  }

  /** Answers the job's id once it is durable; a day to run is more than any bench takes. */
  async put(body: string): Promise<string> {
    return (await this.send('INSERTED', 'put 0 0 86400', body)).words[1] ?? ''
  }

  async close(): Promise<void> {
    if (this.#socket.closed) return
    const closed = once(this.#socket, 'close')
    this.#socket.destroy()
    await closed
  }
}
