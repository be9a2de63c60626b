package import ActivityModel
import Glibc
package import SessionCore

/// The activities found in the watched directories at one moment.
package struct CatalogueState: Sendable {
    /// What can be started, by name.
    package var activities: [ActivityDescription] = []
    /// What cannot, and why, by name.
    package var broken: [BrokenActivity] = []
    /// Both, by name; two states say the same if their rows are equal.
    package var rows: [CatalogueRow] = []
}

/// Something in a watched directory that looks like an activity and cannot be used.
package struct BrokenActivity: Sendable, Equatable {
    package var name: String
    package var path: String
    package var report: AuthorReport
}

/// Finds the activities of some directories: `<name>.lua`, or `<name>/activity.lua` beside its modules and page.
///
/// It opens regular files only, reads bounded sizes and loads each script within the budgets of one handler, so that nothing
/// in a directory can hold it up. It blocks on files all the same: call it off the threads that serve.
package final class Catalogue: Sendable {
    private let directories: [String]
    private let limits: Limits
    private let known = Guarded<[String: Known]>([:])

    /// The first directory that has a name or an identifier wins.
    package init(directories: [String], limits: Limits) {
        self.directories = directories.map { path in
            var path = path
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            return path
        }
        self.limits = limits
    }

    /// Looks at everything, and loads what is new or has changed. May be called from any thread; calls wait for each other.
    package func scan() -> CatalogueState {
        // Scripts need a bigger stack than the caller may have.
        ScriptThread.run { [self] in
            known.withLock { known in
                var scan = CatalogueScan(limits: limits, known: known)
                for directory in directories { scan.look(in: directory) }
                known = scan.seen
                return scan.finish()
            }
        }
    }
}

/// What was found at a path, kept for the next scan.
private struct Known {
    enum Finding {
        case activity(ActivityDescription)
        case broken(AuthorReport)
    }

    var survey: ActivitySurvey
    /// Whether the files are old enough for an equal survey to prove that they are the same.
    var isSettled: Bool
    var hash: String
    var finding: Finding
}

/// One look at all directories.
private struct CatalogueScan {
    /// Two changes within the clock ticks of a file system leave the same times; after this they cannot any more.
    private static let settlingNanoseconds: Int64 = 2_000_000_000

    let limits: Limits
    let known: [String: Known]
    private(set) var seen: [String: Known] = [:]
    private var state = CatalogueState()
    /// Where each name and each identifier was found first.
    private var paths: [String: String] = [:]
    private var owners: [String: String] = [:]

    init(limits: Limits, known: [String: Known]) {
        self.limits = limits
        self.known = known
    }

    mutating func look(in directory: String) {
        do throws(FolderError) {
            let folder = try FolderReader(path: directory)
            for place in try ActivityPlace.all(in: folder, path: directory) { look(at: place, in: folder) }
        } catch .missing {
            // A directory that will be made later is watched like an empty one.
            return
        } catch {
            refuse(name: directory, path: directory, shown: directory, PlaceError(error, file: "").report(activity: directory))
        }
    }

    func finish() -> CatalogueState {
        var state = state
        state.activities.sort { $0.name < $1.name }
        state.broken.sort { ($0.name, $0.path) < ($1.name, $1.path) }
        state.rows.sort { ($0.name, $0.path) < ($1.name, $1.path) }
        return state
    }

    private mutating func look(at place: ActivityPlace, in folder: borrowing FolderReader) {
        do throws(PlaceError) {
            guard place.entry.isText, ActivityPlace.isName(place.name) else {
                throw PlaceError(
                    .invalidName, "A name starts with a small letter and has small letters, digits and dashes, 64 at most; rename it.")
            }
            if let first = paths[place.name] { throw PlaceError(.nameTaken, "\(first) has this name and is used instead.") }
            paths[place.name] = place.path
            let found = try find(place, in: folder)
            seen[place.path] = found
            switch found.finding {
            case .broken(let report): refuse(place, report)
            case .activity(let activity):
                if let owner = owners[activity.identifier] {
                    throw PlaceError(.identifierTaken, "The identifier \(activity.identifier) is taken by \(owner).")
                }
                owners[activity.identifier] = place.path
                state.activities.append(activity)
                state.rows.append(CatalogueRow(activity, path: place.path))
            }
        } catch {
            refuse(place, error.report(activity: place.name))
        }
    }

    private mutating func refuse(_ place: ActivityPlace, _ report: AuthorReport) {
        refuse(name: place.name, path: place.path, shown: place.shown(report.file), report)
    }

    private mutating func refuse(name: String, path: String, shown: String, _ report: AuthorReport) {
        state.broken.append(BrokenActivity(name: name, path: path, report: report))
        state.rows.append(
            CatalogueRow(
                name: name, path: path,
                error: .init(file: shown, line: report.line, code: report.code, message: report.message)))
    }

    /// What is at a place: known from the last scan if nothing changed, else read, and loaded if the content is new.
    private func find(_ place: ActivityPlace, in folder: borrowing FolderReader) throws(PlaceError) -> Known {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let survey = try ActivitySurvey(place, in: folder)
        let last = known[place.path]
        if let last, last.isSettled, last.survey == survey { return last }
        let source = try survey.read(place, in: folder)
        let isSettled = survey.changed < Int64(now.tv_sec) * 1_000_000_000 - Self.settlingNanoseconds
        let isSame = last?.hash == source.hash && last?.survey.hasPage == survey.hasPage
        let finding = isSame ? last!.finding : load(source, hasPage: survey.hasPage)
        return Known(survey: survey, isSettled: isSettled, hash: source.hash, finding: finding)
    }

    private func load(_ source: ScriptSource, hasPage: Bool) -> Known.Finding {
        do throws(ScriptLoadError) {
            return .activity(ActivityDescription(try LuaScript(source, limits: limits), hasPage: hasPage))
        } catch {
            return .broken(error.report)
        }
    }
}

extension ActivityDescription {
    /// Describes a loaded script.
    package init(_ script: LuaScript, hasPage: Bool) {
        let manifest = script.manifest
        self.init(
            name: script.source.activity, identifier: manifest.identifier, version: manifest.version, metadata: manifest.metadata.text,
            title: manifest.title, messages: manifest.messages, endsWhenInitiatorLeaves: manifest.endsWhenInitiatorLeaves,
            exports: manifest.exports, schemas: manifest.schemas.text, hasPage: hasPage, script: script.source)
    }
}
