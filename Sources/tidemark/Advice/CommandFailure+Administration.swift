import Administration

/// The only code that turns errors of operations into sentences for a shell, and exit codes.
extension CommandFailure {
    /// The failure of a command if its operation throws; `nil` for an error of another kind.
    init?(of error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as AdministrationError: self.init(error)
        case let error as InputFileError: self = RecordAdvice.failure(error)
        case let error as AssetFolderError: self = RecordAdvice.failure(error)
        case let stop as ImportStop: self = RecordAdvice.failure(stop)
        case let stop as SaveStop: self = RecordAdvice.failure(stop)
        case let fault as StoreMoveFault: self = MoveAdvice.failure(fault)
        case let error as HistoryError: self = HistoryAdvice.failure(error)
        case let failure as BundleFailure: self = BundleAdvice.failure(failure)
        case let stop as BundleImportStop: self = BundleAdvice.failure(stop)
        default: return nil
        }
    }

    init(_ error: AdministrationError) {
        self =
            switch error {
            case .directory(let error, let container, let user):
                DirectoryAdvice.failure(error, container: container, user: user)
            case .service(let error, let name, let container):
                DirectoryAdvice.failure(error, service: name, container: container)
            case .usersMissing(let users, let container):
                DirectoryAdvice.failure(missing: users, container: container)
            case .schema(let error, let container, let user, let role):
                SchemaAdvice.failure(error, container: container, user: user, role: role)
            case .userRequired(let scope):
                CommandFailure(
                    .usage,
                    "a \(DatabaseName(scope)) database belongs to a user: name them with --as, or say --database public."
                )
            case .databaseMissing(let scope, let user, let environment):
                CommandFailure(
                    .data,
                    "\(user) has no \(DatabaseName(scope)) database in \(EnvironmentName(environment)): "
                        + "it is made at the first sign-in or save, and services have none."
                )
            }
    }
}
