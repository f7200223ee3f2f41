// Exchange the code in the address for a session, and take the code out of the address bar.

const said = document.getElementById("said");
async function logIn(code: string): Promise<void> {
  const response = await fetch("/login", { method: "POST", body: code, headers: { "Content-Type": "text/plain" } });
  if (response.ok) location.replace("/");
  else say("This address was used already, or is older than two minutes. Press Enter in the terminal for a new one.");
}

function say(text: string): void {
  if (said) said.textContent = text;
}

/** Take the code out of the address bar and use it; also when a new one is pasted into this tab. */
function arrive(): void {
  const code = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (code) void logIn(code);
  else say("Open the address that the command printed; it logs this browser in. Press Enter in the terminal for a new one.");
}

addEventListener("hashchange", arrive);
arrive();
