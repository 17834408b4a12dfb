export { type Finish, ProgramWatch } from '@stoker/protocol'
