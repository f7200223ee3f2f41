/** Starts a checkout and charges it through the ledger. */
export async function startCheckout(cart: string): Promise<Response> {
  return fetch("/entries", { method: "POST", body: cart });
}
