import NIOHTTP1
import RecordModel
import Testing

@testable import WebServices

struct WebRouteTests {
    @Test
    func `a path names container, environment, database and endpoint`() throws {
        let route = try WebRoute(
            path: "/database/1/iCloud.a/production/private/changes/zone",
            method: .POST
        )
        #expect(route.container == "iCloud.a")
        #expect(route.environment == .production)
        #expect(route.scope == .private)
        #expect(route.endpoint == .changesZone)
    }

    @Test(arguments: WebEndpoint.allCases)
    func `every endpoint takes POST, and those of Apple's GET take both`(endpoint: WebEndpoint) {
        let path = "/database/1/iCloud.a/development/public/\(endpoint.rawValue)"
        #expect(throws: Never.self) { try WebRoute(path: path, method: .POST) }
        for method in [HTTPMethod.GET, .HEAD, .OPTIONS, .PUT, .DELETE] {
            let isTaken = (try? WebRoute(path: path, method: method)) != nil
            #expect(isTaken == (method == .GET && endpoint.takesGET))
        }
    }

    @Test(
        arguments: [
            ("/", 404), ("", 404), ("/database/1/iCloud.a", 404),
            ("//database/1/a/development/public/x/y", 404),
            ("/database/2/a/development/public/zones/list", 404),
            ("/database/1/a/staging/public/zones/list", 404),
            ("/database/1/a/development/secret/zones/list", 404),
            ("/database/1/a/development/public/zones/../zones/list", 404),
            ("/database/1/a/development/public/zones/list/", 404),
            ("/database/1/a/development/public/zones%2Flist", 404),
            ("/database/1//development/public/zones/list", 404),
            ("/database/1/a/development/public/assets/upload", 404),
            ("/database/1/a/development/tokens/create", 404), ("/device/1/a/development/tokens/create", 404),
            ("/database/1/a/development/private/users/current", 400),
        ] as [(String, UInt)]
    )
    func `other paths are refused with a status`(path: String, status: UInt) {
        #expect {
            try WebRoute(path: path, method: .POST)
        } throws: { ($0 as? WebFailure)?.status.code == status }
    }

    @Test
    func `endpoints that are missing say so`() {
        for name in WebRoute.missing {
            #expect(WebEndpoint(rawValue: name) == nil)
            #expect {
                try WebRoute(path: "/database/1/a/development/public/\(name)", method: .POST)
            } throws: { ($0 as? WebFailure)?.reason.contains("does not serve \(name)") ?? false }
        }
    }
}
