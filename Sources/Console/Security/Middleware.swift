import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Gives every response its fields, and every failure a page.
struct FieldsMiddleware: RouterMiddleware {
    typealias Context = ConsoleContext

    let pages: ConsolePages

    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: @concurrent (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let failure as PageFailure {
            let page = self.pages.failed(failure, leads: failure == .otherOrigin)
            response = ConsoleRouter.response(page, status: failure.status)
        } catch let error as any HTTPResponseError {
            let title = error.status == .notFound ? "Not found" : "Refused"
            let failure = PageFailure(error.status, title, Self.text(of: error.status))
            response = ConsoleRouter.response(self.pages.failed(failure, leads: true), status: failure.status)
        } catch {
            context.logger.error("a page failed", metadata: ["error": "\(error)"])
            let failure = PageFailure.fault
            response = ConsoleRouter.response(self.pages.failed(failure, leads: true), status: failure.status)
        }
        ResponseFields.complete(&response.headers)
        return response
    }

    private static func text(of status: HTTPResponse.Status) -> String {
        switch status {
        case .notFound: "The console has no such page."
        case .contentTooLarge: "The form is too large."
        default: "The request can't be answered: \(status.code)."
        }
    }
}

/// Refuses requests that come from elsewhere, by their fields.
struct RulesMiddleware: RouterMiddleware {
    typealias Context = ConsoleContext

    let host: ConsoleHost
    let port: BoundPort
    let checksPort: Bool

    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: @concurrent (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        // Before the console knows its port, no browser has the port either.
        let rules = RequestRules(host: self.host, port: self.checksPort ? self.port.value ?? 0 : nil)
        let origin = RequestOrigin(
            isGet: request.method == .get || request.method == .head,
            host: request.head.authority,
            origin: request.headers[.origin],
            fetchSite: request.headers[ResponseFields.fetchSite]
        )
        switch rules.refusal(of: origin) {
        case .otherHost: throw PageFailure.otherHost
        case .otherOrigin: throw PageFailure.otherOrigin
        case nil: return try await next(request, context)
        }
    }
}

/// Lets in only requests with the cookie of a session.
struct SessionMiddleware: RouterMiddleware {
    typealias Context = ConsoleContext

    let sessions: Sessions
    let strangers: Strangers

    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: @concurrent (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        let cookie = SessionCookie.value(in: request.headers[.cookie])
        guard let cookie, let session = self.sessions.session(cookie: cookie) else {
            throw PageFailure.notSignedIn
        }
        self.strangers.left(context.channel)
        var context = context
        context.session = session
        return try await next(request, context)
    }
}
