import type { ToolStore } from "../../src/engine/ports/stores.ts";
import { type RegistryOptions, ToolRegistry } from "../../src/engine/registry/registry.ts";

/** A registry with everything that the store holds. */
export async function openRegistry(store: ToolStore, options: RegistryOptions = {}): Promise<ToolRegistry> {
  const registry = new ToolRegistry(store, options);
  await registry.refresh();
  return registry;
}
