/** The store that the settings name cannot be used. Its message is one sentence for the operator and holds no password. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}
