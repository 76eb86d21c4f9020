import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import Console

/// Errors that no page expects.
@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
    private struct Fault: Error {}

    @Test
    func `a fault has a page of its own, with the fields of every response`() async throws {
        let scene = try ConsoleScene.withAlice()
        let request = Request(
            head: HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/"),
            body: RequestBody(buffer: ByteBuffer())
        )
        let source = ApplicationRequestContextSource(
            channel: NIOAsyncTestingChannel(),
            logger: Logger(label: "tests")
        )
        let response = try await FieldsMiddleware(pages: scene.pages).handle(
            request,
            context: ConsoleContext(source: source)
        ) { _, _ in throw Fault() }
        #expect(response.status == .internalServerError)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.contentSecurityPolicy] != nil)
        #expect(response.body.contentLength ?? 0 > 0)
        await scene.shutdown()
    }
}
