export async function verifyFolder(_data: string, _json: boolean): Promise<boolean> { throw new Error('x') }
