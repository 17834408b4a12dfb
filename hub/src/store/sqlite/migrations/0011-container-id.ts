/** The container an attempt runs in, as its engine knows it. */
export const CONTAINER_ID_0011 = ['ALTER TABLE job ADD COLUMN containerId TEXT']
