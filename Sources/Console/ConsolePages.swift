import Hummingbird
import NIOPosix
import RecordModel
import RecordStore
import StorageContract

/// Makes the pages, from the store.
///
/// Each page is in the file of its name.
struct ConsolePages: Sendable {
    /// Rows of any list on one page.
    static let rowsMax = 200

    let store: Store
    let configuration: ConsoleConfiguration
    let sessions: Sessions
    let backupJobs = BackupJobs()
    /// Files for imports.
    let uploads = Uploads()

    /// A page with what every page has.
    func page(
        _ title: String,
        _ request: PageRequest?,
        place: Place? = nil,
        section: Page.Section? = nil,
        _ body: Markup
    ) -> Page {
        Page(
            title: title,
            session: request?.session,
            place: place,
            section: section,
            body: body,
            surroundings: Page.Surroundings(
                folder: self.configuration.folder,
                version: self.configuration.version,
                nowMilliseconds: self.configuration.now(),
                server: self.configuration.serverState()
            )
        )
    }

    /// A page that says why there is none; one that leads on has a link to the start.
    func failed(_ failure: PageFailure, leads: Bool = false) -> Page {
        let start: Markup = leads ? "<p class=\"pages\"><a href=\"/\">All containers</a></p>" : ""
        var page = self.page(failure.title, nil, "\(Parts.notice("\(failure.text)", isError: true))\(start)")
        page.isAlone = failure == .otherHost
        return page
    }

    /// Ends the session of a browser.
    func leave(_ request: PageRequest) -> Response {
        self.sessions.leave(request.session)
        let page = self.page(
            "Goodbye",
            nil,
            "<p>The session has ended. The console runs on until its command ends.</p>"
        )
        return ConsoleRouter.response(page)
    }

    /// The same with what leads to another database, because a page inside knows where it is.
    func failed(_ failure: PageFailure, _ request: PageRequest) async -> Page {
        let place = try? Place(request)
        var body = Parts.notice("\(failure.text)", isError: true)
        if let place, let form = try? await self.databaseForm(action: place.url(.records).path, place) {
            body += form
        }
        return self.page(failure.title, request, place: place, body)
    }

    // MARK: Reading

    /// Calls what blocks on a thread that may.
    ///
    /// - Throws: `PageFailure`.
    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            return try await NIOThreadPool.singleton.runIfActive(body)
        } catch let error as DirectoryError {
            throw PageFailure(error)
        } catch let error as SchemaStoreError {
            throw PageFailure(error)
        }
    }

    /// Opens the database of a place, with the rights of its user.
    func reader(of place: Place) async throws -> DatabaseReader {
        if place.user == nil, place.scope != .public {
            throw PageFailure.invalid("A \(place.scope.name) database belongs to a user: choose one.")
        }
        let directory = self.store.directory
        let signIn = try await self.blocking {
            try directory.account(
                named: place.user,
                ofContainer: place.container,
                environment: place.environment
            )
        }
        let database: DatabaseID? =
            switch place.scope {
            case .public: signIn.publicDatabase
            case .private: signIn.privateDatabase
            case .shared: signIn.sharedDatabase
            }
        guard let database else {
            throw PageFailure.missing(
                "\(place.user ?? "") has no \(place.scope.name) database in \(place.environment.name): it is made "
                    + "at the first sign-in, and services have none."
            )
        }
        var requester = Requester(
            database: database,
            scope: place.scope,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
        requester.isOperator = place.user == nil
        return DatabaseReader(store: self.store, requester: requester)
    }

    func schema(of place: Place) async throws -> SchemaDocument {
        let schemas = self.store.schemas
        return try await self.blocking {
            try schemas.schema(ofContainer: place.container, environment: place.environment)
        }
    }

    /// The zone that a query names; the default zone without one.
    func zone(_ query: FormItems) -> ZoneID {
        ZoneID(zoneName: query["zone"] ?? ZoneID.defaultZoneName, ownerName: query["owner"] ?? "")
    }
}
