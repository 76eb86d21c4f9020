// A cursor over plots: by the pointer, or by arrow keys when a plot has the focus.
// The values stand in the legend, as the server has written them.

for (const figure of document.querySelectorAll("figure.plot")) {
    const picture = figure.querySelector(".picture");
    if (picture) attach(figure, picture);
}

/** @param {HTMLElement} figure @param {SVGSVGElement} picture */
function attach(figure, picture) {
    const begin = Number(picture.dataset.begin);
    const interval = Number(picture.dataset.interval);
    const count = Number(picture.dataset.count);
    const cursor = picture.querySelector(".cursor");
    const moment = figure.querySelector(".moment");
    const lines = [...figure.querySelectorAll(".legend li")].map((item) => ({
        name: item.dataset.name,
        values: item.dataset.values.split("|"),
        shown: item.querySelector(".value"),
        last: item.querySelector(".value").textContent,
    }));
    /** @type {number | null} */
    let current = null;

    picture.setAttribute("tabindex", "0");
    picture.setAttribute("role", "slider");
    picture.setAttribute("aria-valuemin", "0");
    picture.setAttribute("aria-valuemax", String(count - 1));
    describe(count - 1);

    /** @param {number} place @returns {string} */
    function time(place) {
        return new Date(begin + place * interval).toISOString().replace("T", " ").slice(0, 19) + " UTC";
    }

    /** @param {number} place */
    function describe(place) {
        const values = lines.map((line) => `${line.name} ${line.values[place] || "not known"}`);
        picture.setAttribute("aria-valuenow", String(place));
        picture.setAttribute("aria-valuetext", `${time(place)}: ${values.join(", ")}`);
    }

    /** @param {number} place */
    function show(place) {
        current = Math.min(Math.max(place, 0), count - 1);
        cursor.setAttribute("x1", String(current + 0.5));
        cursor.setAttribute("x2", String(current + 0.5));
        cursor.removeAttribute("hidden");
        moment.hidden = false;
        moment.textContent = `At ${time(current)}`;
        for (const line of lines) line.shown.textContent = line.values[current] || "not known";
        describe(current);
    }

    function hide() {
        if (document.activeElement === picture) return;
        current = null;
        cursor.setAttribute("hidden", "");
        moment.hidden = true;
        for (const line of lines) line.shown.textContent = line.last;
    }

    picture.addEventListener("pointermove", (event) => {
        const box = picture.getBoundingClientRect();
        show(Math.floor((event.clientX - box.left) / box.width * count));
    });
    picture.addEventListener("pointerleave", hide);
    picture.addEventListener("focus", () => { if (current === null) show(count - 1); });
    picture.addEventListener("blur", hide);
    picture.addEventListener("keydown", (event) => {
        const place = current ?? count - 1;
        const page = Math.round(count / 12);
        const places = {
            ArrowLeft: place - 1, ArrowDown: place - 1, ArrowRight: place + 1, ArrowUp: place + 1,
            PageDown: place - page, PageUp: place + page, Home: 0, End: count - 1,
        };
        if (!(event.key in places) || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        show(places[event.key]);
    });
}
