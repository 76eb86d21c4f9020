import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The pages by path, behind the checks that every request passes.
struct ConsoleRouter: Sendable {
    /// Bytes of a form; pages that take a schema may need as much.
    private static let formBytesMax = 4 * 1_024 * 1_024

    let pages: ConsolePages
    let strangers: Strangers
    let host: ConsoleHost
    let port: BoundPort
    /// Whether `Host` has to have the port: not behind a Unix socket.
    let checksPort: Bool
    /// Ends the console.
    let stop: @Sendable () -> Void

    static func linkPath(_ secret: String) -> String { "/open/\(secret)" }

    func router() -> Router<ConsoleContext> {
        let router = Router(context: ConsoleContext.self)
        router.add(middleware: FieldsMiddleware(pages: self.pages))
        router.add(middleware: RulesMiddleware(host: self.host, port: self.port, checksPort: self.checksPort))
        router.get("/files/:name") { _, context in try Self.file(context) }
        router.get("/open/:secret") { request, context in try self.open(request, context) }
        let gate = SessionMiddleware(sessions: self.pages.sessions, strangers: self.strangers)
        let inside = router.group().add(middleware: gate)
        for route in ConsoleRoutes.pages + ChangeRoutes.pages { self.add(route, to: inside) }
        ChangeRoutes(pages: self.pages).add(to: inside)
        self.addOthers(to: inside)
        return router
    }

    private func add(_ route: ConsoleRoutes.Route, to group: RouterGroup<ConsoleContext>) {
        group.get(RouterPath(route.path)) { request, context in
            let page = try Self.pageRequest(request, context, form: FormItems(""))
            do {
                return try Self.response(await route.make(self.pages, page))
            } catch let failure as PageFailure {
                return Self.response(await self.pages.failed(failure, page), status: failure.status)
            }
        }
    }

    // MARK: Requests

    static func pageRequest(
        _ request: Request,
        _ context: ConsoleContext,
        form: FormItems
    ) throws -> PageRequest {
        guard let session = context.session else { throw PageFailure.notSignedIn }
        var path: [String: String] = [:]
        for (name, value) in context.parameters {
            path[String(name)] = String(value).removingPercentEncoding ?? ""
        }
        return PageRequest(
            path: path,
            query: FormItems(request.uri.query ?? ""),
            form: form,
            session: session,
            lastEventID: request.headers[ResponseFields.lastEventID]
        )
    }

    /// The form of a change, with the secret of the session.
    static func form(_ request: Request, _ context: ConsoleContext) async throws -> FormItems {
        let body = try await request.body.collect(upTo: self.formBytesMax)
        let form = FormItems(String(buffer: body))
        guard let session = context.session, session.admits(formSecret: form["secret"]) else {
            throw PageFailure.otherOrigin
        }
        return form
    }

    // MARK: Responses

    static func response(_ page: Page, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: PageFrame.html(of: page)))
        )
    }

    private static func file(_ context: ConsoleContext) throws -> Response {
        guard let file = ConsoleFile.named(context.parameters.get("name") ?? "") else {
            throw PageFailure.missing("There is no such file.")
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: file.contentType,
                // Another content has another name.
                .cacheControl: "private, max-age=31536000, immutable",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes))
        )
    }

    /// Begins a session.
    ///
    /// The page leads on by itself, so that the next request comes from here, and has the cookie
    /// wherever the link stood.
    private func open(_ request: Request, _ context: ConsoleContext) throws -> Response {
        // A picture or a script is no guess of a person, and does not count as one.
        guard request.headers[ResponseFields.fetchDestination] ?? "document" == "document" else {
            throw PageFailure.notSignedIn
        }
        switch self.pages.sessions.linkOpened(context.parameters.get("secret") ?? "") {
        case .begin(let cookie):
            var response = Self.response(StartPages(console: self.pages).opened())
            response.headers[ResponseFields.refresh] = "0; url=/"
            response.headers[.setCookie] =
                "\(SessionCookie.name)=\(cookie); HttpOnly; SameSite=Strict; Path=/"
            return response
        case .refuse: throw PageFailure.notSignedIn
        case .stop:
            self.stop()
            throw PageFailure.notSignedIn
        }
    }
}

/// The cookie of a session, which belongs to the host of one console.
enum SessionCookie {
    static let name = "tidemark_console"

    /// The value in a request's field; `nil` if there is none.
    static func value(in field: String?) -> String? {
        for part in (field ?? "").split(separator: ";") {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if pair.count == 2, pair[0] == self.name { return String(pair[1]) }
        }
        return nil
    }
}
