// What the browser adds to pages that work without it: keys, copies, local times, changes as they come.
// Text is only ever set as text.

document.documentElement.classList.add("scripted");

/** @param {EventTarget | null} target @returns {boolean} */
function isTyping(target) {
    return target instanceof HTMLElement && target.matches("input, select, textarea, [contenteditable]");
}

// Local times, beside those in UTC.
for (const time of document.querySelectorAll("time")) {
    const date = new Date(time.dateTime);
    if (!Number.isNaN(date.valueOf())) time.title = date.toLocaleString() + " here";
}

// Copies.
for (const button of document.querySelectorAll("[data-copies]")) {
    button.addEventListener("click", async () => {
        const source = document.getElementById(button.dataset.copies ?? "");
        await navigator.clipboard.writeText(source?.textContent ?? "");
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
}

// A form that has no use but to be sent.
for (const select of document.querySelectorAll("select[data-submits]")) {
    select.addEventListener("change", () => {
        // Conditions of another type mean nothing.
        for (const field of select.form.querySelectorAll("[name=field], [name=sort]")) field.value = "";
        select.form.requestSubmit();
    });
}

// The place of an error in a text.
for (const area of document.querySelectorAll("textarea[data-line]")) {
    const lines = area.value.split("\n");
    const line = Math.min(Number(area.dataset.line), lines.length);
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const place = before + Math.min(Number(area.dataset.column) - 1, lines[line - 1].length);
    area.focus();
    area.setSelectionRange(place, place);
    area.scrollTop = Math.max(0, (line - 5) * parseFloat(getComputedStyle(area).lineHeight));
}

// A file goes to the console before the form that is about it.
for (const form of document.querySelectorAll("form[data-upload]")) {
    const file = form.querySelector("input[type=file]");
    const state = form.querySelector("[data-upload-state]");
    form.addEventListener("submit", (event) => {
        if (file.files.length === 0 || form.elements.upload.value !== "") return;
        event.preventDefault();
        // A connection that is refused in the middle may be cut before its response is read.
        if (file.files[0].size > Number(form.dataset.uploadBytesMax)) {
            state.textContent = "The file is too large for a page.";
            return;
        }
        const request = new XMLHttpRequest();
        request.open("POST", form.dataset.upload);
        request.setRequestHeader("X-Form-Secret", form.elements.secret.value);
        request.setRequestHeader("Content-Type", "application/octet-stream");
        request.upload.addEventListener("progress", (progress) => {
            state.textContent = `Sent ${Math.floor(100 * progress.loaded / Math.max(1, progress.total))} %.`;
        });
        request.addEventListener("load", () => {
            if (request.status !== 200) {
                state.textContent = request.status === 413
                    ? "The file is too large for a page." : `The file was not taken (${request.status}).`;
                return;
            }
            form.elements.upload.value = request.responseText;
            state.textContent = "Sent. The dry run reads it.";
            form.submit();
        });
        request.addEventListener("error", () => {
            state.textContent = "The file was not taken: the console has ended, or refused it.";
        });
        request.send(file.files[0]);
    });
    // The page may come back from the browser's memory.
    window.addEventListener("pageshow", () => { form.elements.upload.value = ""; });
}

// Images, where their link stands.
for (const link of document.querySelectorAll("a[data-previews]")) {
    link.addEventListener("click", (event) => {
        event.preventDefault();
        const image = document.createElement("img");
        image.className = "preview";
        image.alt = "Preview of the asset";
        image.addEventListener("error", () => {
            const text = document.createElement("span");
            text.className = "hint";
            text.textContent = "Only PNG, JPEG and WebP are shown.";
            image.replaceWith(text);
        });
        image.src = link.href;
        link.replaceWith(image);
    });
}

// Keys.
const help = document.getElementById("help");

/** @returns {HTMLElement[]} */
function rowLinks() {
    return [...document.querySelectorAll("table[data-rows] tbody tr")]
        .map((row) => row.querySelector("a"))
        .filter((link) => link !== null);
}

/** @param {number} step */
function moveRow(step) {
    const links = rowLinks();
    if (links.length === 0) return;
    const row = document.activeElement?.closest("tr");
    const current = links.findIndex((link) => link.closest("tr") === row);
    const next = current < 0 ? (step > 0 ? 0 : links.length - 1) : current + step;
    links[Math.min(Math.max(next, 0), links.length - 1)].focus();
}

document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (help?.open) return;
    const keys = {
        "/": () => document.querySelector("[data-filter]")?.focus(),
        "j": () => moveRow(1),
        "k": () => moveRow(-1),
        "e": () => document.querySelector("a[data-edit]")?.click(),
        "n": () => document.querySelector("a[rel=next]")?.click(),
        "?": () => help?.showModal(),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
});

// Changes as they come.
const live = document.querySelector("[data-events]");
if (live) follow(live);

/** @param {HTMLElement} place */
function follow(place) {
    const state = place.querySelector("[data-live-state]");
    const events = new EventSource(place.dataset.events);
    let count = 0;
    state.textContent = "Waiting for changes.";
    events.addEventListener("message", (event) => {
        const page = JSON.parse(event.data);
        const body = liveRows();
        for (const change of page.changes) body.append(liveRow(change, "saved"));
        for (const change of page.deletions) body.append(liveRow(change, "deleted"));
        count += page.changes.length + page.deletions.length;
        // Old rows give room: the page of the token shows them again.
        while (body.rows.length > 500) body.rows[0].remove();
        state.textContent = `${count} ${count === 1 ? "change" : "changes"} since the page was loaded.`;
        const token = document.getElementById("token");
        if (token) token.textContent = page.token;
    });
    events.addEventListener("error", () => {
        state.textContent = events.readyState === EventSource.CLOSED
            ? "The console has ended, or its session. Load the page again."
            : "The connection was lost, and is made again.";
    });
}

/** @returns {HTMLTableSectionElement} */
function liveRows() {
    const place = document.getElementById("live");
    let table = place.querySelector("table");
    if (!table) {
        table = document.createElement("table");
        table.dataset.rows = "";
        table.createCaption().textContent = "Changes since the page was loaded";
        const row = table.createTHead().insertRow();
        for (const title of ["Record", "Type", "Change", "At", "By"]) {
            const head = document.createElement("th");
            head.scope = "col";
            head.textContent = title;
            row.append(head);
        }
        table.createTBody();
        place.tabIndex = 0;
        place.append(table);
    }
    return table.tBodies[0];
}

/** @param {{name: string, type: string, url: string, milliseconds?: number, by?: string}} change @param {string} word */
function liveRow(change, word) {
    const row = document.createElement("tr");
    row.className = "new";
    const head = document.createElement("th");
    head.scope = "row";
    head.dataset.label = "Record";
    const name = document.createElement("bdi");
    name.textContent = change.name;
    if (word === "deleted") {
        head.append(name);
    } else {
        const link = document.createElement("a");
        link.href = change.url;
        link.append(name);
        head.append(link);
    }
    row.append(head);
    const at = change.milliseconds === undefined
        ? "" : new Date(change.milliseconds).toISOString().replace("T", " ").slice(0, 19);
    for (const [label, text] of [["Type", change.type], ["Change", word], ["At", at], ["By", change.by ?? ""]]) {
        const cell = document.createElement("td");
        cell.dataset.label = label;
        cell.textContent = text;
        if (text === "deleted") cell.className = "deleted";
        row.append(cell);
    }
    return row;
}
